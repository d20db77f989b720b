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
