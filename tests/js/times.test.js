// Times are short, and in the reader's zone: an evening in Lisbon is not tomorrow.
import assert from "node:assert/strict";
import { test } from "node:test";

import { short } from "../../chat/static/chat/js/times.js";

test("today by the clock, this year by the day, before that with the year", () => {
  const now = new Date("2026-11-30T12:00:00Z");
  const at = (text, zone = "UTC") => short(new Date(text), now, "en", zone);
  assert.equal(at("2026-11-30T08:05:00Z"), "08:05");
  assert.equal(at("2026-11-30T00:05:00Z"), "00:05");
  assert.equal(at("2026-11-29T23:00:00Z"), "Nov 29");
  assert.equal(at("2025-12-31T10:00:00Z"), "Dec 31, 2025");
  assert.equal(at("2026-11-29T23:30:00Z", "Europe/Madrid"), "00:30");
});

test("in the table of contents an earlier year has no day: the title needs the room", () => {
  const now = new Date("2026-11-30T12:00:00Z");
  const at = (text, locale) => short(new Date(text), now, locale, "UTC", true);
  assert.equal(at("2023-11-14T10:00:00Z", "en"), "Nov 2023");
  assert.equal(at("2023-11-14T10:00:00Z", "pt-BR"), "nov. de 2023");
  assert.equal(at("2026-11-14T10:00:00Z", "en"), "Nov 14");
  assert.equal(at("2026-11-30T08:05:00Z", "en"), "08:05");
});
