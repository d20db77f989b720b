import { describe, expect, it } from "vitest";
import { buildSeccompFilter, SOCKET_FAMILIES, type SeccompArchitecture } from "./seccomp.ts";
import { CHECKED_SYSCALLS, DENIED_SYSCALLS, MODE_SYSCALLS } from "./syscalls.ts";

const ARCHITECTURES = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const fail = (errno: number) => 0x0005_0000 + errno;

interface Call {
  number: number;
  architecture: number;
  args?: readonly number[];
}

/** Runs a filter as the kernel does. */
function judge(filter: Buffer, { number, architecture, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + index * 8));
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => filter.readUInt8(at * 8 + (holds ? 2 : 3));
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the filter has no end");
}

describe.each(["x64", "arm64"] as const)("the seccomp filter for %s", (name: SeccompArchitecture) => {
  const column = name === "x64" ? 0 : 1;
  const architecture = ARCHITECTURES[name];
  const closed = buildSeccompFilter(name, { families: [] });
  const decide = (number: number, ...args: number[]) => judge(closed, { number, architecture, args });

  it("denies every call on the list and allows ordinary ones", () => {
    const denied = Object.values(DENIED_SYSCALLS).flatMap((numbers) => numbers.slice(column, column + 1));
    const decisions = denied.filter((number) => number >= 0).map((number) => [number, decide(number)]);
    expect(decisions.filter(([, decision]) => decision !== fail(1))).toEqual([]);
    expect(decisions.length).toBeGreaterThan(50);
    const ordinary = name === "x64" ? [0, 1, 9, 59, 202, 231] : [63, 64, 222, 221, 98, 94];
    for (const number of ordinary) expect(decide(number)).toBe(ALLOW);
  });

  it("lets threads start and processes not", () => {
    const [clone, clone3] = [CHECKED_SYSCALLS.clone[column], CHECKED_SYSCALLS.clone3[column]];
    expect(decide(clone, 0x3d_0f00)).toBe(ALLOW);
    expect(decide(clone, 17)).toBe(fail(1));
    expect(decide(clone, 0x1000_0000)).toBe(fail(1));
    expect(decide(clone3, 0)).toBe(fail(38));
  });

  it("refuses sockets but for the families given", () => {
    const socket = CHECKED_SYSCALLS.socket[column];
    for (const family of [1, 2, 10, 16, 17]) expect(decide(socket, family)).toBe(fail(97));
    const open = buildSeccompFilter(name, { families: [SOCKET_FAMILIES.ipv4] });
    expect(judge(open, { number: socket, architecture, args: [2] })).toBe(ALLOW);
    expect(judge(open, { number: socket, architecture, args: [10] })).toBe(fail(97));
    expect(judge(open, { number: socket, architecture, args: [1] })).toBe(fail(97));
  });

  it("refuses to push input into a terminal", () => {
    const ioctl = CHECKED_SYSCALLS.ioctl[column];
    expect(decide(ioctl, 0, 0x5412)).toBe(fail(1));
    expect(decide(ioctl, 0, 0x541c)).toBe(fail(1));
    expect(decide(ioctl, 0, 0x5401)).toBe(ALLOW);
  });

  it("lets no file run as its owner or group", () => {
    const calls = Object.values(MODE_SYSCALLS).filter((numbers) => numbers[column] >= 0);
    expect(calls).toHaveLength(name === "x64" ? 4 : 3);
    for (const { [column]: number, 2: at } of calls) {
      const chmod = (mode: number) => decide(number, ...Array.from({ length: at }, () => 0o7777), mode);
      expect([0o4755, 0o2755, 0o106_777].map(chmod)).toEqual([fail(1), fail(1), fail(1)]);
      expect([0o1777, 0o755, 0].map(chmod)).toEqual([ALLOW, ALLOW, ALLOW]);
    }
  });

  it("ends a process that calls by another architecture's numbers", () => {
    const foreign = ARCHITECTURES[name === "x64" ? "arm64" : "x64"];
    expect(judge(closed, { number: 0, architecture: foreign })).toBe(KILL);
    expect(judge(closed, { number: 0, architecture: 0x4000_0003 })).toBe(KILL);
  });
});

describe("the seccomp filter for x64", () => {
  it("ends a process that uses x32's numbers", () => {
    const filter = buildSeccompFilter("x64", { families: [] });
    expect(judge(filter, { number: 0x4000_0029, architecture: ARCHITECTURES.x64 })).toBe(KILL);
  });
});
