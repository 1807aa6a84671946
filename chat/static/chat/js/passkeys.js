// @ts-check
/**
 * Passkeys: the browser's part of a form with `data-passkey` ("create" or "get"). The button asks the device, what it signs
 * goes into the hidden field, and the form is sent as any form. The server's options stand in the page, or come from `data-options`.
 */

/**
 * Which of the form's sentences tells what went wrong.
 * @param {unknown} error
 * @returns {"cancelled" | "known" | "insecure" | "old" | "broken"}
 */
export function reason(error) {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError") return "cancelled";
  if (name === "InvalidStateError") return "known";
  if (name === "SecurityError") return "insecure";
  if (name === "NotSupportedError") return "old";
  return "broken";
}

/**
 * What a new key must be to sign somebody in alone: kept on the device, opened by its person.
 * @param {any} options the server's, as JSON
 */
export function passwordless(options) {
  const selection = { ...options.authenticatorSelection };
  return {
    ...options,
    authenticatorSelection: {
      ...selection,
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
  };
}

/** @param {HTMLFormElement} form */
async function options(form) {
  const { options: url } = form.dataset;
  const data = url
    ? await (await fetch(url, { headers: { Accept: "application/json" } })).json()
    : JSON.parse(document.getElementById("js_data")?.textContent ?? "{}");
  return (data.creation_options ?? data.request_options).publicKey;
}

/** @param {HTMLFormElement} form */
async function credential(form) {
  const given = await options(form);
  return form.dataset.passkey === "create"
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(passwordless(given)) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given) });
}

/** @param {HTMLFormElement} form */
function watch(form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("credential"));
  const line = /** @type {HTMLElement} */ (form.querySelector(".error[hidden]"));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const tell = (/** @type {string} */ words) => {
    line.textContent = words;
    line.hidden = words === "";
  };
  /** @type {HTMLElement} */ (button.parentElement).hidden = false;
  const ask = async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    tell("");
    if (!isSecureContext) return tell(form.dataset.insecure ?? "");
    if (typeof PublicKeyCredential?.parseRequestOptionsFromJSON !== "function") return tell(form.dataset.old ?? "");
    button.setAttribute("aria-disabled", "true");
    try {
      field.value = JSON.stringify(await credential(form));
      form.submit();
    } catch (error) {
      tell(form.dataset[reason(error)] ?? "");
      button.removeAttribute("aria-disabled");
    }
  };
  button.addEventListener("click", () => void ask());
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // Enter in the line of the name
    void ask();
  });
}

if (typeof document !== "undefined")
  for (const form of document.querySelectorAll("form[data-passkey]")) watch(/** @type {HTMLFormElement} */ (form));
