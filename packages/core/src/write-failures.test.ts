import { describe, expect, it } from "vitest";
import { CemError, writeFailure } from "./index.ts";

const failed = (code: string) => Object.assign(new Error(code), { code });

describe("writeFailure", () => {
  it.each([
    ["ENOSPC", "DISK_FULL"],
    ["EDQUOT", "DISK_FULL"],
    ["EFBIG", "DISK_FULL"],
    ["EROFS", "NOT_WRITABLE"],
    ["EACCES", "NOT_WRITABLE"],
  ])("says what %s means", (reason, code) => {
    const cause = failed(reason);
    expect(writeFailure(cause, "/workspace/state.json", "the disk")).toMatchObject({
      code,
      message: expect.stringContaining(`/workspace/state.json can't be written: the disk `) as string,
      details: { what: "/workspace/state.json", place: "the disk", reason },
      cause,
    });
  });

  it.each([failed("EIO"), new Error("other"), new CemError("STATE_BUSY", "busy"), "text", undefined, null])(
    "gives back others: %s",
    (error) => {
      expect(writeFailure(error, "it", "the disk")).toBe(error);
    },
  );
});
