// @ts-check
/**
 * What was done in another tab, or on another device, shows here: the branch that another one went to, names, what is pinned or
 * gone. Frames tell of replies only; so the server is asked where the conversation stands when a person looks at the page
 * again, when another tab of this browser says that it did something, and now and then while the page is looked at.
 */

const NOW_AND_THEN_MS = 15_000;
const CHANNEL = "gymnasia";

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(CHANNEL) : null;
channel && "unref" in channel && /** @type {any} */ (channel).unref(); // Node, in the tests

/** This tab has done something that others show. */
export function tellOthers() {
  channel?.postMessage("changed");
}

/**
 * Whether what the page shows at its end is not what the server shows there. While a reply is written its frames tell.
 * @param {{leaf: string, writing: boolean, atEnd: boolean}} here
 * @param {{head: string}} there
 */
export function differs({ leaf, writing, atEnd }, { head }) {
  return atEnd && !writing && head !== "" && head !== leaf;
}

/**
 * @param {() => unknown} ask called when it is time to look, never twice at once
 */
export function watchTabs(ask) {
  let asking = false;
  const look = async () => {
    if (asking || document.hidden) return;
    asking = true;
    try {
      await ask();
    } finally {
      asking = false;
    }
  };
  channel?.addEventListener("message", () => void look());
  document.addEventListener("visibilitychange", () => void look());
  addEventListener("focus", () => void look());
  setInterval(look, NOW_AND_THEN_MS);
}

/**
 * Whether the server has a conversation, and where: the last message of the branch that is shown. "signedOut" where it sends
 * us away, null where it cannot say.
 * @param {string} url
 * @returns {Promise<{stands: boolean, head: string} | "signedOut" | null>}
 */
export async function standing(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
  if (response?.redirected) return "signedOut";
  return response?.ok ? response.json().catch(() => null) : null;
}
