// @ts-check
/**
 * The table of contents under a hand that clicks: pin, archive, rename in place, delete with undo, without leaving the page;
 * and the search dialog. All of it are the same posts that the buttons make without this.
 */
import { watchAttention, watchEnds } from "#chat/attention";
import { Finder } from "#chat/finder";
import { composes } from "#chat/keys";
import { tellOthers, watchTabs } from "#chat/tabs";
import { localiseTimes } from "#chat/times";

const TOAST_MS = 12_000;
const toast = document.getElementById("toast");
const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("finder"));
const finder = dialog && new Finder(dialog, (root) => localiseTimes(root, new Date()));
let toastTimer = 0;

/** The conversation that this page shows, "" for none. */
const current = () => document.getElementById("thread")?.dataset.conversation ?? "";

/**
 * @param {string} url
 * @param {Record<string, string>} [fields]
 * @returns {Promise<any>} null where it did not work
 */
async function post(url, fields = {}) {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("commands"));
  const body = new FormData(form ?? undefined);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  try {
    const response = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" } });
    const value = response.redirected ? null : await response.json();
    if (response.ok) {
      tellOthers();
      return value;
    }
    say(value?.message ?? toast?.dataset.failed ?? "");
  } catch {
    say(toast?.dataset.failed ?? "");
  }
  return null;
}

/**
 * Take the list anew from the server: it is what knows the order. The focus of who was in it stays with its conversation, or
 * comes to what stands there now.
 * @param {{id: string, place: number} | null} [at] where somebody was
 */
export async function refresh(at = null) {
  const contents = document.getElementById("contents");
  const response = await fetch(`/contents/?${new URLSearchParams({ current: current() })}`).catch(() => null);
  if (!contents || !response?.ok || response.redirected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector(".entries");
  const old = contents.querySelector(".entries");
  if (!fresh || !old || old.querySelector("input, details[open]")) return;
  const inside = at ?? placeOf(document.activeElement);
  localiseTimes(fresh, new Date());
  if (!at && old.isEqualNode(fresh)) return;
  old.replaceWith(fresh);
  if (inside) focusEntry(contents, inside);
}

/**
 * Which conversation's row something stands in, and the how manieth that is.
 * @param {Element | null} element
 */
function placeOf(element) {
  const item = element?.closest(".entries li, .rows li");
  const link = /** @type {HTMLAnchorElement | null} */ (item?.querySelector("a.entry, a.title"));
  if (!item || !link) return null;
  return { id: link.pathname, place: [...document.querySelectorAll(".entries li, .rows li")].indexOf(item) };
}

/**
 * @param {Element} root
 * @param {{id: string, place: number}} at
 */
function focusEntry(root, { id, place }) {
  const links = /** @type {HTMLAnchorElement[]} */ ([...root.querySelectorAll("a.entry, .rows a.title")]);
  const same = links.find((link) => link.pathname === id);
  const found = same ?? links[Math.min(place, links.length - 1)] ?? /** @type {HTMLElement | null} */ (document.querySelector(".contents .new"));
  found?.focus({ preventScroll: true });
}

/**
 * Say something for a while.
 * @param {string} words
 * @param {() => void} [undo]
 * @param {boolean} [byKey] whether the keyboard brought it about
 */
function say(words, undo, byKey = false) {
  if (!toast) return;
  clearTimeout(toastTimer);
  toast.replaceChildren(words);
  if (undo) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = toast.dataset.undo ?? "";
    button.addEventListener("click", () => {
      toast.hidden = true;
      undo();
    });
    toast.append(button);
  }
  toast.hidden = words === "";
  // Who pressed a key is far away from it, and Tab would lead through all of the page.
  if (undo && byKey) toast.querySelector("button")?.focus();
  // Who has the focus on it is about to press it.
  const hide = () => {
    if (toast.contains(document.activeElement)) toastTimer = setTimeout(hide, TOAST_MS);
    else toast.hidden = true;
  };
  toastTimer = setTimeout(hide, TOAST_MS);
}

/**
 * @param {HTMLButtonElement} button
 * @param {boolean} byKey whether it was pressed by a key
 */
async function organise(button, byKey) {
  const at = placeOf(button);
  const isHere = current() !== "" && button.formAction.includes(current());
  const isList = button.closest(".rows") !== null;
  const answer = await post(button.formAction);
  if (!answer) return;
  if (answer.undo) {
    if (isHere && button.dataset.organise === "delete") {
      location.assign(`${answer.url}?${new URLSearchParams({ deleted: current() })}`);
      return;
    }
    if (isList) button.closest("li")?.remove();
    await refresh(isList ? null : at);
    if (isList && at) focusEntry(document, at);
    say(
      answer.message,
      async () => {
        const back = await post(answer.undo);
        if (back && isList) reload(at);
        else await refresh(at);
      },
      byKey,
    );
    return;
  }
  if (isList) reload(at);
  else await refresh(at);
}

const PLACE = "place";

/** The page anew, with the focus where it was. @param {{id: string, place: number} | null} at */
function reload(at) {
  if (at) sessionStorage.setItem(PLACE, JSON.stringify(at));
  location.reload();
}

const was = sessionStorage.getItem(PLACE);
sessionStorage.removeItem(PLACE);
if (was) {
  const list = document.querySelector("main .list");
  if (list) focusEntry(list, JSON.parse(was));
}

/**
 * Write the new name where the old one stands.
 * @param {HTMLAnchorElement} link
 */
function rename(link) {
  const item = link.closest("li");
  const entry = /** @type {HTMLAnchorElement | null} */ (item?.querySelector("a.entry"));
  const title = entry?.querySelector(".title");
  if (!item || !entry || !title) return false;
  const before = title.textContent ?? "";
  const line = document.createElement("input");
  line.className = "rename";
  line.maxLength = 120;
  line.dir = "auto";
  line.value = before;
  line.setAttribute("aria-label", link.textContent?.trim() ?? "");
  let done = false;
  const finish = async (/** @type {boolean} */ keep) => {
    if (done) return;
    done = true;
    const name = line.value.trim();
    line.replaceWith(entry);
    entry.focus();
    if (!keep || name === "" || name === before) return;
    if (!(await post(link.href, { title: name }))) return;
    title.textContent = name;
    const heading = document.querySelector(".headline h1");
    if (heading && entry.hasAttribute("aria-current")) {
      document.title = document.title.replace(heading.textContent ?? "", name);
      heading.textContent = name;
    }
  };
  line.addEventListener("keydown", (event) => {
    if (composes(event)) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    void finish(event.key === "Enter");
  });
  line.addEventListener("blur", () => void finish(true));
  closeMenus();
  entry.replaceWith(line);
  line.focus();
  line.select();
  return true;
}

const MENUS = "details:is(.menu, .tune)";

/** @param {Element | null} [but] */
function closeMenus(but = null) {
  for (const menu of document.querySelectorAll(`${MENUS}[open]`)) if (menu !== but) menu.removeAttribute("open");
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const inMenu = target?.closest(MENUS) ?? null;
  closeMenus(inMenu);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const button = /** @type {HTMLButtonElement | null} */ (target?.closest("button[data-organise]"));
  const name = /** @type {HTMLAnchorElement | null} */ (target?.closest("a[data-rename]"));
  const search = target?.closest('a[data-shortcut="search"]');
  const hit = /** @type {HTMLAnchorElement | null} */ (target?.closest("a.hit[data-message]"));
  if (button) {
    event.preventDefault();
    closeMenus();
    void organise(button, event.detail === 0);
  } else if (name && rename(name)) {
    event.preventDefault();
  } else if (search && finder) {
    event.preventDefault();
    const contents = document.getElementById("contents");
    if (contents?.matches(":popover-open")) contents.hidePopover();
    finder.toggle();
  } else if (hit) {
    event.preventDefault();
    void follow(hit);
  }
});

/**
 * To a message that was found, on whatever branch: a link alone moves nothing, a hand that presses it does.
 * @param {HTMLAnchorElement} hit
 */
async function follow(hit) {
  await post(hit.href);
  location.assign(hit.href); // where it stands now, or what the server has to say
}

document.addEventListener("submit", () => closeMenus());

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(`${MENUS}[open]`);
  if (event.key !== "Escape" || composes(event) || !menu) return;
  event.preventDefault();
  event.stopPropagation();
  const isInside = menu.contains(document.activeElement);
  closeMenus();
  if (isInside) menu.querySelector("summary")?.focus();
}, true);

// A link to be handed on: there is a button for it where the browser lets us write to the clipboard.
for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-copy-address]"))) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const copied = document.getElementById("announcer")?.dataset.copied ?? "";
    await navigator.clipboard.writeText(button.dataset.copyAddress ?? "").then(
      () => say(copied),
      () => say(toast?.dataset.failed ?? ""),
    );
  });
}

// From the page of exports: the browser's own way to paper and PDF.
if (location.hash === "#print") {
  history.replaceState(null, "", location.pathname + location.search);
  addEventListener("load", () => setTimeout(() => print()));
}

const thread = document.getElementById("thread");
if (thread) {
  watchAttention(thread, /** @type {HTMLButtonElement | null} */ (document.getElementById("notify")), say);
  // The first answer gives the conversation its name.
  watchEnds(thread, (isReady) => {
    if (isReady && thread.querySelectorAll(".turn").length === 1) void refresh().then(retitle);
  });
}

watchTabs(() => refresh().then(retitle));

/** The heading says what the list says. */
function retitle() {
  const heading = document.querySelector(".headline h1");
  const title = document.querySelector(".contents .entry[aria-current] .title")?.textContent ?? "";
  if (!heading || title === "" || heading.textContent === title) return;
  document.title = document.title.replace(heading.textContent ?? "", title);
  heading.textContent = title;
}
