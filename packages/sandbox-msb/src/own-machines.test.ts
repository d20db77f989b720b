import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { ownLabels, processIdentity, sweepLeftovers } from "./own-machines.ts";

/** A driver that knows machines and removes them. */
function driverOf(machines: { name: string; labels: Record<string, string> }[]) {
  const removed: string[] = [];
  const driver = {
    list: async (label: string, value: string) => machines.filter(({ labels }) => labels[label] === value),
    remove: async (name: string) => {
      if (name === "stubborn") throw new Error("it is busy");
      removed.push(name);
    },
  };
  return { driver, removed };
}

describe("sweepLeftovers", () => {
  it("removes machines whose host has gone, and no others", async () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    const dead = processIdentity(child.pid as number) ?? "";
    await new Promise((resolve) => child.once("exit", resolve));
    const own = ownLabels();
    const { driver, removed } = driverOf([
      { name: "dead", labels: { ...own, "cem.host": dead } },
      { name: "number-used-again", labels: { ...own, "cem.host": `${process.pid}-1` } },
      { name: "stubborn", labels: { ...own, "cem.host": dead } },
      { name: "own", labels: own },
      { name: "of-another-host", labels: { ...own, "cem.host": processIdentity(process.ppid) ?? "" } },
      { name: "without-host", labels: { cem: "guest" } },
      { name: "of-another-program", labels: { other: "guest" } },
    ]);
    await sweepLeftovers(driver);
    expect(removed).toEqual(["dead", "number-used-again"]);
  });
});
