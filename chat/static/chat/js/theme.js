// @ts-check
/** Light and dark at once, without a new page; the server remembers the choice by a cookie. */

/** What has been sent is answered before the next is: the server remembers what came last, which must be the last choice. */
let sent = Promise.resolve();

/** @param {ParentNode} root */
export function watchTheme(root) {
  for (const element of root.querySelectorAll("form.theme")) {
    const form = /** @type {HTMLFormElement} */ (element);
    form.addEventListener("submit", (event) => {
      const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
      if (!button) return;
      event.preventDefault();
      show(form, button);
      const body = new FormData(form, button);
      sent = sent.then(async () => {
        // Where it is offline the page has its look; the next one will ask again.
        const asked = { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true };
        await fetch(form.action, asked).catch(() => null);
      });
    });
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} chosen
 */
function show(form, chosen) {
  const { dataset } = document.documentElement;
  if (chosen.value === "system") delete dataset.theme;
  else dataset.theme = chosen.value;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
  const system = chosen.value === "system";
  for (const element of document.querySelectorAll("meta[name=theme-color]")) {
    const meta = /** @type {HTMLMetaElement} */ (element);
    meta.dataset.scheme ??= meta.content === "#171b1d" ? "dark" : "light";
    if (system) meta.media = `(prefers-color-scheme: ${meta.dataset.scheme})`;
    else meta.media = meta.dataset.scheme === chosen.value ? "all" : "not all";
  }
}
