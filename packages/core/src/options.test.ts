import { describe, expect, it } from "vitest";
import { assertKnownOptions } from "./options.ts";

interface Options {
  port?: number | undefined;
  host?: string | undefined;
}

const KNOWN = { port: true, host: true } as const;
const check = (given: unknown, suggest?: Parameters<typeof assertKnownOptions>[3]) => () =>
  assertKnownOptions<Options>(given as Options, KNOWN, "serve", suggest);

describe("assertKnownOptions", () => {
  it.each([{}, { port: 1 }, { port: undefined, host: "" }])("accepts %j", (given) => {
    expect(check(given)).not.toThrow();
  });

  it("names each unknown option, with the name that was meant", () => {
    const suggest = (name: string, known: readonly string[]) => known.filter((other) => other[0] === name[0]);
    expect(check({ prot: 1, host: "", zone: undefined }, suggest)).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: '"prot" is not an option of serve. Did you mean "port"? "zone" is not an option of serve.',
        details: {
          where: "serve",
          options: [{ option: "prot", nearest: "port" }, { option: "zone" }],
          known: ["port", "host"],
        },
      }),
    );
  });

  it("suggests nothing where it is given no way to", () => {
    expect(check({ prot: 1 })).toThrow('"prot" is not an option of serve.');
  });

  it.each(["toString", "__proto__", "constructor"])("does not take %s for an option", (name) => {
    expect(check(JSON.parse(`{"${name}": 1}`))).toThrow(`"${name}" is not an option`);
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
