import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NetworkPolicy } from "@cem/core";
import { needsIpv6 } from "@cem/sandbox/provider-kit";
import { CHECKED_SYSCALLS, DENIED_SYSCALLS, MODE_SYSCALLS } from "./syscalls.ts";

export type SeccompArchitecture = "x64" | "arm64";

// Instructions of classic BPF, from linux/bpf_common.h.
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

// Return values of a filter, from linux/seccomp.h.
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const FAIL_WITH = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

// struct seccomp_data: number, architecture, instruction pointer, six arguments of eight bytes.
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argumentAt = (index: number) => 16 + index * 8;

const AUDIT_ARCHITECTURE = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
/** System calls of the x32 ABI have this bit: the same calls under other numbers. */
const X32_BIT = 0x4000_0000;
const CLONE_THREAD = 0x0001_0000;
const SET_ID_BITS = 0o6000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** Socket families by their number in Linux. */
export const SOCKET_FAMILIES = { ipv4: 2, ipv6: 10 } as const;
export type SocketFamily = (typeof SOCKET_FAMILIES)[keyof typeof SOCKET_FAMILIES];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [LOAD_WORD, 0, 0, offset];
const answer = (value: number): Instruction => [RETURN, 0, 0, value];
/** Executes the next `count` instructions when equal, skips them otherwise. */
const whenEqual = (value: number, count: number): Instruction => [JUMP_IF_EQUAL, 0, count, value];

/**
 * Builds the seccomp filter of a guest: {@link DENIED_SYSCALLS} fail with EPERM, threads can be started but processes
 * can't, only sockets of the given families can be opened, and no file gets a set-user-ID or set-group-ID bit. System calls of
 * another architecture kill the process.
 */
export function buildSeccompFilter(
  architecture: SeccompArchitecture,
  settings: { families: readonly SocketFamily[] },
): Buffer {
  const column = architecture === "x64" ? 0 : 1;
  const program: Instruction[] = [
    load(ARCHITECTURE_AT),
    [JUMP_IF_EQUAL, 1, 0, AUDIT_ARCHITECTURE[architecture]],
    answer(KILL_PROCESS),
    load(NUMBER_AT),
  ];
  if (architecture === "x64") program.push([JUMP_IF_AT_LEAST, 0, 1, X32_BIT], answer(KILL_PROCESS));
  for (const numbers of Object.values(DENIED_SYSCALLS)) {
    const number = numbers[column];
    if (number !== undefined && number >= 0) program.push(whenEqual(number, 1), answer(FAIL_WITH | EPERM));
  }
  // A filter can't read the flags of clone3; with ENOSYS the C library falls back to clone.
  program.push(whenEqual(CHECKED_SYSCALLS.clone3[column], 1), answer(FAIL_WITH | ENOSYS));
  program.push(
    whenEqual(CHECKED_SYSCALLS.clone[column], 4),
    load(argumentAt(0)),
    [JUMP_IF_ANY_BIT, 0, 1, CLONE_THREAD],
    answer(ALLOW),
    answer(FAIL_WITH | EPERM),
  );
  program.push(
    whenEqual(CHECKED_SYSCALLS.ioctl[column], 5),
    load(argumentAt(1)),
    [JUMP_IF_EQUAL, 1, 0, TIOCSTI],
    [JUMP_IF_EQUAL, 0, 1, TIOCLINUX],
    answer(FAIL_WITH | EPERM),
    answer(ALLOW),
  );
  // A guest's files belong to the host's user: with such a bit, anyone who starts one on the host would become this user.
  for (const numbers of Object.values(MODE_SYSCALLS)) {
    if (numbers[column] < 0) continue;
    program.push(
      whenEqual(numbers[column], 4),
      load(argumentAt(numbers[2])),
      [JUMP_IF_ANY_BIT, 0, 1, SET_ID_BITS],
      answer(FAIL_WITH | EPERM),
      answer(ALLOW),
    );
  }
  const families = settings.families;
  program.push(whenEqual(CHECKED_SYSCALLS.socket[column], families.length * 2 + 2), load(argumentAt(0)));
  for (const family of families) program.push(whenEqual(family, 1), answer(ALLOW));
  program.push(answer(FAIL_WITH | EAFNOSUPPORT));
  program.push(answer(ALLOW));
  return assemble(program);
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}

/**
 * Returns the file with the seccomp filter for this machine and policy, written on first use. An allowed network is
 * IPv4 only unless an IPv6 address is listed, since Deno can't deny ranges of IPv6.
 */
export function seccompFilterFile(privateDir: string, network: NetworkPolicy): string {
  const file = join(privateDir, "seccomp.bpf");
  if (existsSync(file)) return file;
  const families: SocketFamily[] = [];
  if (network !== "none") families.push(SOCKET_FAMILIES.ipv4);
  if (needsIpv6(network)) families.push(SOCKET_FAMILIES.ipv6);
  writeFileSync(file, buildSeccompFilter(process.arch === "arm64" ? "arm64" : "x64", { families }));
  return file;
}
