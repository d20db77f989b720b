import { describe, expect, it } from "vitest";
import { CemError, toErrorInfo } from "./errors.ts";

describe("CemError", () => {
  it("keeps code, details and cause", () => {
    const cause = new Error("disk");
    const error = new CemError("CONFIG_INVALID", "bad", { details: { line: 7 }, cause });
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: "bad", details: { line: 7 }, cause });
  });

  it("is recognised when it comes from another copy of the package", () => {
    const foreign = Object.assign(new Error("x"), { [Symbol.for("@cem/core.error")]: true });
    expect(CemError.isInstance(foreign)).toBe(true);
    expect(CemError.isInstance(new Error("x"))).toBe(false);
    expect(CemError.isInstance(null)).toBe(false);
  });
});

describe("toErrorInfo", () => {
  it("gives what is not ours a code of its own", () => {
    expect(toErrorInfo("plain")).toEqual({ code: "UNEXPECTED", message: "plain", details: {} });
    expect(toErrorInfo(new CemError("A_B", "m", { details: { n: 1 } }))).toEqual({
      code: "A_B",
      message: "m",
      details: { n: 1 },
    });
  });
});
