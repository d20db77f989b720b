import type { RunRequest } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRunOutput } from "./run-output.ts";

type OutputChunk = Parameters<NonNullable<RunRequest["onOutput"]>>[0];

const MIB = 1024 * 1024;

describe("RunOutput", () => {
  it("joins characters that arrive in parts, by stream", () => {
    const chunks: OutputChunk[] = [];
    const output = createRunOutput(100, (chunk) => chunks.push(chunk));
    const bytes = Buffer.from("é");
    output.add("stdout", bytes.subarray(0, 1));
    output.add("stderr", Buffer.from("!"));
    output.add("stdout", bytes.subarray(1));
    expect(output.text).toBe("!é");
    expect(chunks).toEqual([
      { stream: "stderr", text: "!" },
      { stream: "stdout", text: "é" },
    ]);
  });

  it("keeps up to the limit over both streams, and counts the rest", () => {
    const chunks: OutputChunk[] = [];
    const output = createRunOutput(4, (chunk) => chunks.push(chunk));
    output.add("stdout", Buffer.from("123"));
    output.add("stderr", Buffer.from("456"));
    output.add("stdout", Buffer.from("789"));
    expect([output.text, output.droppedBytes]).toEqual(["1234", 5]);
    expect(chunks.map(({ text }) => text)).toEqual(["123", "4"]);
    const exact = createRunOutput(3);
    exact.add("stdout", Buffer.from("123"));
    expect([exact.text, exact.droppedBytes]).toEqual(["123", 0]);
  });

  it("is a flood beyond 64 MiB, and beyond 64 times the limit", () => {
    const small = createRunOutput(4);
    small.add("stdout", Buffer.alloc(64 * MIB));
    expect(small.isFlood).toBe(false);
    small.add("stdout", Buffer.alloc(1));
    expect(small.isFlood).toBe(true);
    const large = createRunOutput(2 * MIB);
    const bytes = Buffer.alloc(64 * MIB);
    large.add("stdout", bytes);
    large.add("stdout", bytes);
    expect(large.isFlood).toBe(false);
    large.add("stdout", Buffer.alloc(1));
    expect(large.isFlood).toBe(true);
  });
});
