// @ts-check
/** Joins the pieces of a page: composer, thread, feed. Everything here also works, more slowly, without it. */
import { Composer, post } from "#chat/composer";
import { Feed } from "#chat/feed";
import { Follow } from "#chat/follow";
import { Thread } from "#chat/thread";
import { localiseTimes } from "#chat/times";

const byId = (/** @type {string} */ id) => document.getElementById(id);

/** @type {Thread | null} */
let thread = null;
/** @type {Feed | null} */
let feed = null;
/** Notices of turns that came while a send was under way: most of them tell of that very turn. @type {import("./cursors.js").Frame[]} */
let held = [];

const follow = new Follow(byId("latest"));
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form.composer"));
const composer = form && new Composer(form, { started, sending });

/** @param {import("./composer.js").Started} turn */
function started(turn) {
  if (!thread) {
    location.assign(turn.url);
    return;
  }
  thread.place(turn.html);
  follow.jump();
}

/** @param {boolean} now */
function sending(now) {
  if (now) return;
  // After the answer's own handler has placed its turn.
  setTimeout(() => {
    const frames = held;
    held = [];
    for (const frame of frames) thread?.receive(frame);
  });
}

/** @param {string} words "started", "ready" or a sentence */
function announce(words) {
  const line = byId("announcer");
  if (line) line.textContent = line.dataset[words] ?? words;
}

/**
 * The server ended the feed for good. It may be wrong (a socket that failed looks the same), so the page asks once more.
 */
async function gone() {
  const response = await fetch(location.href, { method: "HEAD" }).catch(() => null);
  if (response?.status === 404) {
    show("gone");
    return;
  }
  const writing = thread?.writing;
  if (writing) await thread?.fetch(writing);
  setTimeout(() => feed?.open(), 2000);
}

/** @param {import("./feed.js").Status} status */
function tell(status) {
  if (status === "gone") void gone();
  else show(status);
}

/** @param {import("./feed.js").Status} status */
function show(status) {
  const line = byId("connection");
  if (!line) return;
  line.hidden = status === "open";
  line.textContent = status === "open" ? "" : (line.dataset[status] ?? "");
}

const root = byId("thread");
if (root && composer) {
  thread = new Thread(root, {
    painted: (handle, seq) => feed?.ack(handle, seq),
    gap: () => feed?.open(),
    grew: () => follow.painted(),
    announce,
    writing: (generation) => {
      composer.setWriting(generation);
      follow.setWriting(generation !== null);
    },
  });
  const url = new URL(root.dataset.socket ?? "", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  feed = new Feed({
    url: url.href,
    position: () => thread?.position ?? null,
    joining: () => thread?.rejoin(),
    receive: (frame) => {
      if (frame.type === "turn" && composer.sending && !thread?.shows(frame.generation)) held.push(frame);
      else thread?.receive(frame);
    },
    tell,
  });
  feed.open();
  addEventListener("online", () => feed?.hurry());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) feed?.hurry();
  });
  addEventListener("pagehide", () => feed?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) feed?.open();
  });
  root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const retry = /** @type {HTMLButtonElement | null} */ (target?.closest("[data-retry]"));
    const copy = /** @type {HTMLAnchorElement | null} */ (target?.closest("a[data-copy]"));
    if (retry) {
      event.preventDefault();
      void tryAgain(retry, composer);
    } else if (copy && typeof ClipboardItem !== "undefined" && navigator.clipboard) {
      event.preventDefault();
      void copyText(copy);
    }
  });
  const [navigation] = performance.getEntriesByType("navigation");
  if (/** @type {PerformanceNavigationTiming | undefined} */ (navigation)?.type === "navigate" && !location.hash) follow.jump();
}

/**
 * @param {HTMLButtonElement} button
 * @param {Composer} line
 */
async function tryAgain(button, line) {
  if (button.disabled) return;
  button.disabled = true;
  const body = line.token();
  body.set("model", line.model);
  const answer = await post(button.formAction, body, line.form.dataset);
  if (answer.ok) {
    line.tell("");
    started(answer.value);
    line.line.focus();
  } else {
    button.disabled = false;
    line.tell(answer.message);
  }
}

/**
 * The text is fetched inside the click, as Safari asks; a link that cannot copy still opens the text.
 * @param {HTMLAnchorElement} link
 */
async function copyText(link) {
  const text = fetch(link.href).then((response) => {
    if (!response.ok || response.redirected) throw new Error(`expected the text, got ${response.status}`);
    return response.text();
  });
  try {
    const item = new ClipboardItem({ "text/plain": text.then((words) => new Blob([words], { type: "text/plain" })) });
    await navigator.clipboard.write([item]);
  } catch {
    location.assign(link.href);
    return;
  }
  const label = link.querySelector("span");
  const before = label?.textContent;
  const copied = form?.dataset.copied ?? "";
  if (!label || before === copied) return;
  label.textContent = copied;
  setTimeout(() => (label.textContent = before ?? ""), 2000);
}

for (const link of document.querySelectorAll("a[data-example]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    composer?.fill(link.textContent?.trim() ?? "");
  });
}
localiseTimes(document, new Date());
