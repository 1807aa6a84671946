// @ts-check
/** Joins the pieces of a page: composer, thread, feed. Everything here also works, more slowly, without it. */
import { dress, watchCode } from "#chat/code";
import { Composer, post, renewKeys } from "#chat/composer";
import { Feed } from "#chat/feed";
import { Files } from "#chat/files";
import { Follow } from "#chat/follow";
import { keep } from "#chat/kept";
import { watchKeys } from "#chat/keys";
import { Progress } from "#chat/progress";
import { Stretch, seek } from "#chat/stretch";
import { differs, standing, tellOthers, watchTabs } from "#chat/tabs";
import { Thread } from "#chat/thread";
import { watchTheme } from "#chat/theme";
import { localiseTimes } from "#chat/times";
import { Versions } from "#chat/versions";

const byId = (/** @type {string} */ id) => document.getElementById(id);

/** @type {Thread | null} */
let thread = null;
/** @type {Feed | null} */
let feed = null;
/** @type {Stretch | null} */
let stretch = null;
/** Notices of turns that came while a send was under way: most of them tell of that very turn. @type {import("./cursors.js").Frame[]} */
let held = [];

/** Why this page hears no more, once that is so. @type {"gone" | "signedOut" | null} */
let over = null;

const follow = new Follow(byId("latest"));
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form.composer"));
const composer =
  form &&
  new Composer(form, {
    started,
    sending,
    failed: (cause) => {
      if (over || cause === "missing" || cause === "signedOut") void verify();
    },
    prepared: async () => files?.prepared,
    lost: () => feed?.lost ?? false,
    announce,
  });

const files = form && composer && new Files(form, (sentence) => composer.tell(sentence));
const kept = form && composer && keep(form, composer, sessionStorage);
if (kept) form?.addEventListener("input", kept);

/** The preset that the next question is asked with stands in the composer's row. */
function namePreset() {
  const select = /** @type {HTMLSelectElement | null} */ (form?.querySelector("select[name=preset]") ?? null);
  const name = form?.querySelector(".tune .preset");
  if (select && name) name.textContent = select.value ? (select.selectedOptions[0]?.text ?? "") : "";
}
form?.addEventListener("change", namePreset);
namePreset();

/** @param {import("./composer.js").Started} turn */
function started(turn) {
  files?.clear();
  kept?.();
  if (!thread || over === "gone" || stretch?.isCut) {
    location.assign(`${turn.url}#text`); // the line of the next page goes on where this one's was
    return;
  }
  if (over) resume();
  thread.place(turn.html);
  feed?.hurry();
  follow.jump();
}

/** A turn of this page was begun anew, or has another version. @param {import("./composer.js").Started} turn */
function changed(turn) {
  if (over) resume();
  thread?.place(turn.html);
  feed?.hurry();
  tellOthers();
  follow.jump();
  composer?.takeFocus(); // what was pressed is gone with the old turn
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

/**
 * @param {string} words "started", "ready", another word that the line has a sentence for, or a sentence
 * @param {number | string} [count] stands where the sentence has braces
 */
function announce(words, count = 0) {
  const line = byId("announcer");
  if (line) line.textContent = (line.dataset[words] ?? words).replace("{}", String(count));
}

/** Something was not there, or did not let this page in: ask the server whether the page itself still stands. */
async function verify() {
  if (!thread) return;
  const there = await standing(root?.dataset.standing ?? "");
  if (there === "signedOut") end("signedOut");
  else if (there?.stands === false) end("gone");
  else if (there && over === "signedOut") resume();
}

/** This page hears no more: nothing on it may look as if it did. @param {"gone" | "signedOut"} why */
function end(why) {
  // Somebody else may have signed in since, to whom this conversation does not exist.
  if (over) return;
  over = why;
  feed?.close();
  composer?.forgo();
  const ending = /** @type {HTMLTemplateElement | null} */ (byId(`ending-${why}`));
  if (ending) thread?.abandon(ending);
  composer?.tell(""); // the line above it says what there is to say
  if (why === "gone") {
    composer?.beginAnew();
    for (const verb of document.querySelectorAll(".headline .verbs, #thread .actions, #thread .verb, #thread .switcher")) verb.remove();
    document.querySelector(".contents .entry[aria-current]")?.closest("li")?.remove();
  }
  show(why);
}

/** Signed in again. */
function resume() {
  over = null;
  feed?.open();
  thread?.takeUp();
}

/** The server ended the feed for good. It may be wrong (a socket that failed looks the same), so the page asks once more. */
async function dismissed() {
  await verify();
  const writing = thread?.writing;
  if (writing) await thread?.fetch(writing);
  setTimeout(reopen, 2000);
}

function reopen() {
  if (!over) feed?.open();
}

/** @param {import("./feed.js").Status} status */
function tell(status) {
  if (over) return;
  if (status === "gone") {
    void dismissed();
    return;
  }
  composer?.setReached(status === "open");
  show(status);
}

/** @param {import("./feed.js").Status | "signedOut"} status */
function show(status) {
  const line = byId("connection");
  if (!line) return;
  line.hidden = status === "open";
  line.textContent = status === "open" ? "" : (line.dataset[status] ?? "");
}

const root = byId("thread");
if (root && composer) {
  const tools = /** @type {HTMLTemplateElement | null} */ (byId("code-tools"));
  const progress = new Progress(root, announce);
  watchCode(root, form?.dataset.copied ?? "", announce);
  stretch = new Stretch(root, {
    put: (turns, before) => thread?.put(turns, before),
    missing: () => void verify(),
    lost: reopen,
    ended: reopen,
  });
  thread = new Thread(root, {
    stretch,
    painted: (handle, seq) => feed?.ack(handle, seq),
    gap: reopen,
    missing: () => void verify(),
    grew: () => follow.painted(),
    announce,
    writing: (generation) => {
      composer.setWriting(generation);
      follow.setWriting(generation !== null);
      progress.follow(generation);
      dress(root, tools);
      showPlace();
    },
  });
  const url = new URL(root.dataset.socket ?? "", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  feed = new Feed({
    urls: { socket: url.href, events: root.dataset.events ?? "" },
    position: () => thread?.position ?? null,
    joining: () => thread?.rejoin(),
    receive: (frame) => {
      if (frame.type === "turn" && composer.sending && !thread?.shows(frame.generation)) held.push(frame);
      else thread?.receive(frame);
    },
    tell,
    refused: () => void verify(),
  });
  const failed = (/** @type {import("./composer.js").Cause} */ cause) => composer.failed(cause);
  const command = { token: () => composer.token(), post, tell: told, failed, started: changed };
  new Versions(root, { ...command, reload: async () => (await thread?.reload()) ?? false, announce, models: form });
  feed.open();
  addEventListener("online", () => feed?.hurry());
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) feed?.rest();
    else if (over === "signedOut") void verify();
    else feed?.wake();
  });
  addEventListener("pagehide", () => feed?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) reopen();
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
  if (location.hash === "#text") {
    history.replaceState(null, "", location.pathname + location.search);
    composer.takeFocus();
  }
  const [navigation] = performance.getEntriesByType("navigation");
  if (/** @type {PerformanceNavigationTiming | undefined} */ (navigation)?.type === "navigate" && !location.hash && !location.search) follow.jump();
  void seek(root);
  stretch.watch();
  watchTabs(compare);
  byId("changed")?.addEventListener("click", async (event) => {
    if (!(event.target instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    if (await thread?.reload()) await compare();
  });
}

/** Another tab, or another device, may have gone to another branch. Said, not followed: somebody may be reading here. */
async function compare() {
  const line = byId("changed");
  if (over || !thread || !line || composer?.sending) return;
  const there = await standing(root?.dataset.standing ?? "");
  const here = { leaf: thread.leaf, writing: thread.writing !== null, atEnd: !stretch?.isCut };
  if (there && there !== "signedOut") line.hidden = !differs(here, there);
}

/** Where the person's next message goes, for the server to know which branch was seen. */
function showPlace() {
  const after = form?.elements.namedItem("after");
  if (after instanceof HTMLInputElement && thread) after.value = thread.leaf || after.value;
}

/** What became of a command, on the composer's line. @param {import("./composer.js").Answer} answer */
function told(answer) {
  if (answer.ok) {
    tellOthers();
    renewKeys();
    composer?.tell("");
    return;
  }
  composer?.tell(answer.message, answer.cause);
  composer?.failed(answer.cause);
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
    renewKeys();
    changed(answer.value);
  } else {
    button.disabled = false;
    line.tell(answer.message, answer.cause);
    line.failed(answer.cause);
  }
}

/**
 * The text is fetched inside the click, as Safari asks; a link that cannot copy still opens the text.
 * @param {HTMLAnchorElement} link
 */
async function copyText(link) {
  let away = false;
  const text = fetch(link.href).then((response) => {
    away = response.status === 404 || response.redirected;
    if (!response.ok || away) throw new Error(`expected the text, got ${response.status}`);
    return response.text();
  });
  try {
    const item = new ClipboardItem({ "text/plain": text.then((words) => new Blob([words], { type: "text/plain" })) });
    await navigator.clipboard.write([item]);
  } catch {
    if (away) void verify();
    else location.assign(link.href);
    return;
  }
  const label = link.querySelector("span");
  const before = label?.textContent;
  const copied = form?.dataset.copied ?? "";
  if (!label || before === copied) return;
  label.textContent = copied;
  setTimeout(() => (label.textContent = before ?? ""), 2000);
}

// Not by the attribute: its browser would scroll a small window down to what is in sight already.
if (!root) composer?.takeFocus();
for (const link of document.querySelectorAll("a[data-example]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    composer?.fill(link.textContent?.trim() ?? "");
  });
}
watchKeys(/Mac|iPhone|iPad/.test(navigator.platform));
watchTheme(document);
localiseTimes(document, new Date());
