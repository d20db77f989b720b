import { createDeadline } from "@cem/bridge";
import { expect, it, onTestFinished } from "vitest";
import { RunningCalls, type CallInFlight } from "./running-calls.ts";

it("a list that is read meanwhile has no part in what a server asks, unless nothing else is under way", () => {
  const calls = new RunningCalls();
  const deadline = createDeadline(1_000, 1_000, new AbortController().signal);
  onTestFinished(() => deadline.dispose());
  const [list, call]: CallInFlight[] = [
    { deadline, isList: true },
    { deadline, session: "ada" },
  ];
  if (list === undefined || call === undefined) throw new Error("both are there");
  calls.begin(list);
  expect(calls.asking()).toEqual([list]);
  calls.begin(call);
  expect(calls.asking()).toEqual([call]);
  calls.end(call);
  expect(calls.asking()).toEqual([list]);
});
