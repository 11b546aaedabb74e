// A span can be chosen by menus, restarts and times; calls without an answer took no time; several days have dates.

import assert from "node:assert/strict";

const day = (time) => `2026-01-0${time < 12 ? 5 : 6}T${String((time + 10) % 24).padStart(2, "0")}:00:00Z`;
const line = (time, session, members) => `{"time":"${day(time)}","session":"${session}","message":{"jsonrpc":"2.0",${members}}}\n`;
const hello = (time, session) =>
  line(time, session, '"id":0,"method":"initialize","params":{}') +
  line(time, session, `"id":0,"result":{"serverInfo":{"name":"${session}"}}`);
const ask = (time, session, id, isAnswered) =>
  line(time, session, `"id":${id},"method":"tools/call","params":{"name":"a"}`) +
  line(time, session, '"method":"notifications/progress","params":{}') +
  (isAnswered ? line(time + 1, session, `"id":${id},"result":{}`) : "");

export const logs = {
  "log.ndjson":
    hello(0, "a") +
    hello(0, "b") +
    ask(1, "a", 1, true) +
    ask(1, "b", 1, false) +
    hello(20, "a") +
    ask(21, "a", 2, true) +
    ask(21, "b", 2, true),
};

export default async (open) => {
  const tab = await open("");
  const time = (hours) => Date.UTC(2026, 0, 5, 10 + hours) / 1000;
  const options = () => tab.$$eval("#filter-connection option, #filter-method option", (all) => all.map((one) => one.textContent));
  assert.deepEqual(await options(), [
    "Method",
    "tools/call (4)",
    "initialize (3)",
    "notifications/progress",
    "Connection",
    "a (4)",
    "b (3)",
  ]);
  assert.match((await tab.texts("[data-part=connections] li"))[0], /1 restart/);
  // Two hours of three calls, and not the days until the log ends.
  const slowest = await tab.texts("[data-part=slowest] .faint");
  assert.deepEqual(slowest.slice(0, 4), [
    " 1 h 0 min · 01-05 11:00:00",
    " 1 h 0 min · 01-06 07:00:00",
    " 1 h 0 min · 01-06 07:00:00",
    " 0 s · 01-05 10:00:00",
  ]);
  const isCut = (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent);
  for (const width of [390, 1440]) {
    const other = await open("", { width });
    assert.deepEqual(await other.$$eval("[data-cell=time], [data-cell=took]", isCut), [], `${width}`);
  }
  await tab.evaluate((span) => (location.hash = `from=${span[0]}&to=${span[1]}`), [time(0), time(3)]);
  await tab.until(() => !document.getElementById("span").hidden);
  assert.deepEqual(await options(), [
    "Method",
    "initialize (2)",
    "tools/call (2)",
    "notifications/progress",
    "Connection",
    "a (2)",
    "b (2)",
  ]);
  assert.doesNotMatch((await tab.texts("[data-part=connections]"))[0], /restart/);
  // Each connection has a lane, and the restart a mark.
  const sequence = await open("#view=sequence");
  assert.deepEqual(await sequence.texts(".sides"), ["clienta", "clientb"]);
  const place = (name) => sequence.$eval(`[data-message=${name}] .arrow`, (one) => one.getBoundingClientRect().left);
  assert.ok((await place("m1")) === (await place("m2")) && (await place("m1")) < (await place("m3")));
  assert.deepEqual(await sequence.texts(".restart .label"), ["a · ⟲ restarted · initialize"]);
};
