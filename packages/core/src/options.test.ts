import { describe, expect, it } from "vitest";
import { assertKnownOptions } from "./options.ts";

interface Options {
  port?: number | undefined;
  host?: string | undefined;
}

const KNOWN = { port: true, host: true } as const;
const check = (given: unknown) => () => assertKnownOptions<Options>(given as Options, KNOWN, "serve");

describe("assertKnownOptions", () => {
  it.each([{}, { port: 1 }, { port: undefined, host: "" }])("accepts %j", (given) => {
    expect(check(given)).not.toThrow();
  });

  it("names each unknown option, with the name that was meant", () => {
    expect(check({ prt: 1, host: "", zone: undefined })).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: '"prt" is not an option of serve. Did you mean "port"? "zone" is not an option of serve.',
        details: {
          where: "serve",
          options: [{ option: "prt", nearest: "port" }, { option: "zone" }],
          known: ["port", "host"],
        },
      }),
    );
  });

  it.each(["toString", "__prto__", "constructor"])("does not take %s for an option", (name) => {
    expect(check(JSON.parse(`{"${name}": 1}`))).toThrow(`"${name}" is not an option`);
  });

  it.each([
    [{ port: "5" }, '"port" of serve has to be a number from 0 on, not "5".'],
    [{ port: Number.NaN }, '"port" of serve has to be a number from 0 on, not NaN.'],
    [{ port: null }, '"port" of serve has to be a number from 0 on, not null.'],
    [{ port: 1, host: {} }, '"host" of serve has to be one of "a", "b", not Object.'],
    [{ host: ["a"] }, '"host" of serve has to be one of "a", "b", not Array.'],
  ])("names the option that has another type: %j", (given, message) => {
    const kinds = { port: "a number from 0 on", host: ["a", "b"] } as const;
    expect(() => assertKnownOptions<Options>(given as Options, kinds, "serve")).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message }),
    );
    expect(() => assertKnownOptions<Options>({ port: 1, host: "a" }, kinds, "serve")).not.toThrow();
  });

  it.each([undefined, null, 5, "port"])("refuses %j", (given) => {
    expect(check(given)).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining("takes an object"),
      }),
    );
  });
});
