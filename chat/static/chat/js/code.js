// @ts-check
/** Blocks of code that are whole: copied by a button, wrapped by a switch. A draft gets neither. */

/** Nothing more will be written in these. */
const WHOLE = '.reply:is([data-state="confirmed"], [data-state="edited"], [data-state="imported"])';

/**
 * Give every block of code of a whole reply its two buttons; those that have them stay as they are.
 * @param {ParentNode} root
 * @param {HTMLTemplateElement | null} tools
 */
export function dress(root, tools) {
  if (!tools) return;
  for (const head of root.querySelectorAll(`${WHOLE} .code-head:not(:has(.code-tools))`))
    head.append(tools.content.cloneNode(true));
}

/**
 * @param {HTMLElement} root
 * @param {string} copied what a button says after it has copied
 * @param {(words: string) => void} announce
 */
export function watchCode(root, copied, announce) {
  root.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const block = button?.closest(".code");
    if (!button || !block) return;
    if (button.matches("[data-wrap]")) {
      const wrapped = block.classList.toggle("wrapped");
      button.setAttribute("aria-pressed", String(wrapped));
    } else if (button.matches("[data-code]")) {
      void copy(button, block.querySelector("pre")?.textContent ?? "", copied, announce);
    }
  });
}

/**
 * @param {HTMLButtonElement} button
 * @param {string} text
 * @param {string} copied
 * @param {(words: string) => void} announce
 */
async function copy(button, text, copied, announce) {
  const label = button.querySelector("span");
  const before = label?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Where a page may not write to the clipboard (plain HTTP), the code is selected: one key copies it.
    const code = button.closest(".code")?.querySelector("pre");
    if (code) getSelection()?.selectAllChildren(code);
    return;
  }
  announce(copied);
  if (!label || before === copied) return;
  label.textContent = copied;
  setTimeout(() => (label.textContent = before), 2000);
}
