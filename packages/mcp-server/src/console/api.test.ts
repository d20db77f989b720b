import { STATUSES } from "@cem/core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { describeApi } from "./api.ts";

const document = JSON.parse(JSON.stringify(describeApi())) as {
  paths: Record<string, Record<string, { operationId: string }>>;
  components: { schemas: Record<string, unknown> };
};

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it("says how work stands in the words that records and the command have, and in no others", () => {
    const found = { names: new Set<string>(), values: new Set<string>(), statuses: new Set<string>() };
    collect(document, found);
    expect([...found.statuses].filter((status) => !Object.hasOwn(STATUSES, status))).toEqual([
      "active",
      "proposal",
    ]);
    expect(found.statuses).toContain("asking");
    const others = ["failed", "queued", "pending", "completed", "finished", "aborted", "canceled"];
    for (const word of others) expect([...found.names, ...found.values]).not.toContain(word);
  });

  it("names each operation once, and each schema that a client would need a type for", () => {
    const operations = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(operations).size).toBe(operations.length);
    expect(operations).toContain("startTask");
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(["Run", "RunSummary", "Error", "Tool", "Answer", "Question"]),
    );
  });
});

/** Collects the names of members, the values of enumerations, and those values that a status can have. */
function collect(
  node: unknown,
  found: { names: Set<string>; values: Set<string>; statuses: Set<string> },
  name = "",
): void {
  if (typeof node !== "object" || node === null) return;
  if ("enum" in node && Array.isArray(node.enum)) {
    for (const value of node.enum) {
      found.values.add(String(value));
      if (name === "status") found.statuses.add(String(value));
    }
  }
  for (const [key, value] of Object.entries(node)) {
    found.names.add(key);
    collect(value, found, key);
  }
}
