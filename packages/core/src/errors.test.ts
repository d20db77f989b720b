import { describe, expect, it } from "vitest";
import { ERRORS } from "./errors/index.ts";
import type { ErrorEntry } from "./errors/index.ts";
import { CemError, forClients, toErrorInfo } from "./errors.ts";

describe("ERRORS", () => {
  it.each(Object.entries(ERRORS))("%s: %o", (code, { meaning, cause = meaning, fix }: ErrorEntry) => {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/);
    for (const text of [meaning, cause, fix]) expect(text).toMatch(/^\S.*[.?]$/u);
  });
});

describe("CemError", () => {
  it("keeps code, details and cause", () => {
    const cause = new Error("disk");
    const error = new CemError("CONFIG_INVALID", "bad", { details: { line: 7 }, cause });
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: "bad", details: { line: 7 }, cause });
    expect(error.name).toBe("CemError");
  });

  it("has empty details and no cause unless they are given", () => {
    const error = new CemError("PLUGIN_CODE", "bad");
    expect(error.details).toEqual({});
    expect("cause" in error).toBe(false);
  });

  it("is recognised when it comes from another copy of the package", () => {
    const brand = Symbol.for("@cem/core.error");
    expect(CemError.isInstance(new CemError("A", "b"))).toBe(true);
    expect(CemError.isInstance(Object.assign(new Error("x"), { [brand]: true }))).toBe(true);
  });

  it.each([new Error("x"), null, undefined, "text", {}])("is not %o", (value) => {
    expect(CemError.isInstance(value)).toBe(false);
  });
});

describe("toErrorInfo", () => {
  it("keeps code, message and details of a CemError", () => {
    expect(toErrorInfo(new CemError("A_B", "m", { details: { n: 1 } }))).toEqual({
      code: "A_B",
      message: "m",
      details: { n: 1 },
    });
  });

  it("gives any other thrown value the code UNEXPECTED", () => {
    expect(toErrorInfo(new TypeError("no"))).toEqual({ code: "UNEXPECTED", message: "no", details: {} });
    expect(toErrorInfo("plain")).toEqual({ code: "UNEXPECTED", message: "plain", details: {} });
  });
});

describe("forClients", () => {
  it.each([
    ["VAULT_UNREADABLE", "The values in /srv/vault/s.vault can't be read with this key."],
    ["UNEXPECTED", "EMFILE: too many open files, scandir '/srv/skills'"],
    ["RUN_KILLED", "EMFILE: too many open files, open '/tmp/cem-deno-1/seccomp.bpf'"],
  ])("has the message of %s replaced", (code, message) => {
    const shown = forClients({ code, message, details: { file: "/srv" } });
    expect(shown.message).toMatch(/^A service behind this server does not work now /);
    expect(JSON.stringify(shown)).not.toMatch(/srv|tmp/);
  });

  it("asks nobody to repeat a call that was made", () => {
    const error = {
      code: "STORE_UNAVAILABLE",
      message: "redis://10.0.0.1",
      details: { isSent: true },
    } as const;
    expect(forClients(error).message).toMatch(/What was called was done, but its result is lost/);
    expect(forClients({ ...error, details: {} }).message).toMatch(/Try again in a moment/);
  });

  it.each([
    ["TOOL_FAILED", "ENOENT: no such file or directory, open '/data/x.csv'"],
    ["UNEXPECTED", "The tool has no answer."],
  ])("leaves %s as it is", (code, message) => {
    expect(forClients({ code, message })).toEqual({ code, message });
  });
});
