// @ts-check
/**
 * The files that go with a message: chosen, pasted or dropped, shown as chips, taken off again. The form's own file field
 * holds them, so that what is sent is what a page without a script would send.
 */

/** The longer side, in pixels, to which providers shrink a picture anyway. */
const LONGEST = 2048;
/** Pictures up to this many bytes go as they are. */
const SMALL = 1_500_000;

/**
 * The size to which a picture is shrunk before it travels; null where it may go as it is.
 * @param {{width: number, height: number, bytes: number}} picture
 */
export function shrunk({ width, height, bytes }) {
  const scale = Math.min(1, LONGEST / Math.max(width, height));
  if (scale === 1 && bytes <= SMALL) return null;
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/**
 * What came by paste or drop, each once, in order, and no more than may go.
 * @template {{name: string, size: number, lastModified: number}} T
 * @param {T[]} held
 * @param {T[]} more
 * @param {number} most
 */
export function together(held, more, most) {
  const known = new Set(held.map(key));
  const fresh = more.filter((file) => !known.has(key(file)) && known.add(key(file)));
  return { files: [...held, ...fresh].slice(0, most), left: Math.max(0, held.length + fresh.length - most) };
}

const key = (/** @type {{name: string, size: number, lastModified: number}} */ file) =>
  `${file.name}\n${file.size}\n${file.lastModified}`;

/** A photograph of a phone would be refused for its size: a smaller copy shows a model just as much. @param {File} file */
async function lighter(file) {
  if (!/^image\/(png|jpeg|webp)$/.test(file.type)) return file;
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return file; // the server says what is wrong with it
  const size = shrunk({ width: bitmap.width, height: bitmap.height, bytes: file.size });
  if (!size) return file;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, size);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, size.width, size.height);
  const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) =>
    canvas.toBlob(done, "image/jpeg", 0.86),
  );
  if (!blob || blob.size >= file.size) return file;
  const name = file.name.replace(/\.\w+$/, "") + ".jpg";
  return new File([blob], name, { type: "image/jpeg", lastModified: file.lastModified });
}

export class Files {
  /**
   * @param {HTMLFormElement} form
   * @param {(sentence: string) => void} tell
   */
  constructor(form, tell) {
    this.form = form;
    this.tell = tell;
    this.field = /** @type {HTMLInputElement} */ (form.elements.namedItem("files"));
    this.list = /** @type {HTMLElement} */ (form.querySelector(".files"));
    /** @type {File[]} */
    this.held = [];
    /** What is being made ready: whoever asks meanwhile asks with it. @type {Promise<unknown>} */
    this.prepared = Promise.resolve();
    this.field.addEventListener("change", () => void this.add([...(this.field.files ?? [])]));
    form.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      // A spreadsheet puts a picture beside its text: then the text is what was meant.
      if (files.length === 0 || event.clipboardData?.types.includes("text/plain")) return;
      event.preventDefault();
      void this.add(files);
    });
    if (this.field.files?.length) void this.add([...this.field.files]); // chosen before this script was there
    const page = document.documentElement;
    const carriesFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
    page.addEventListener("dragover", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      form.toggleAttribute("data-dropping", true);
    });
    page.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) form.toggleAttribute("data-dropping", false);
    });
    page.addEventListener("drop", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      form.toggleAttribute("data-dropping", false);
      void this.add([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** @param {File[]} files */
  async add(files) {
    const adding = this.#prepare(files);
    this.prepared = Promise.allSettled([this.prepared, adding]);
    await adding;
  }

  /** @param {File[]} files */
  async #prepare(files) {
    this.form.toggleAttribute("data-preparing", true);
    try {
      const light = await Promise.all(files.map(lighter));
      const { files: all, left } = together(this.held, light, Number(this.field.dataset.most));
      this.held = all;
      this.tell(left > 0 ? (this.field.dataset.tooMany ?? "") : "");
    } finally {
      this.form.toggleAttribute("data-preparing", false);
      this.#show();
    }
  }

  clear() {
    this.held = [];
    this.#show();
  }

  #show() {
    const transfer = new DataTransfer();
    for (const file of this.held) transfer.items.add(file);
    this.field.files = transfer.files;
    this.list.hidden = this.held.length === 0;
    this.list.replaceChildren(...this.held.map((file) => this.#chip(file)));
  }

  /** @param {File} file */
  #chip(file) {
    const chip = document.createElement("li");
    chip.className = "file";
    if (file.type.startsWith("image/")) {
      const picture = document.createElement("img");
      picture.alt = "";
      const reader = new FileReader(); // a data address: the page's policy lets no other one in
      reader.onload = () => (picture.src = String(reader.result));
      reader.readAsDataURL(file);
      chip.append(picture);
    }
    const name = document.createElement("span");
    name.textContent = file.name;
    name.dir = "auto";
    const remove = /** @type {HTMLElement} */ (
      /** @type {HTMLTemplateElement} */ (this.form.querySelector("template.remove")).content.cloneNode(true)
    ).firstElementChild;
    const button = /** @type {HTMLButtonElement} */ (remove?.cloneNode(true));
    button.setAttribute("aria-label", (this.field.dataset.remove ?? "").replace("{}", file.name));
    button.addEventListener("click", () => {
      this.held = this.held.filter((each) => each !== file);
      this.#show();
      this.field.focus();
    });
    chip.append(name, button);
    return chip;
  }
}
