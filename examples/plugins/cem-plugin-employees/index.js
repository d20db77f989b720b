import { definePlugin } from "code-execution-mcp/define-plugin";
import * as z from "zod";

const options = z.strictObject({
  /** The letters that a number begins with. */
  prefix: z
    .string()
    .regex(/^[A-Z]{1,4}$/)
    .default("E"),
  /** How many digits follow. */
  digits: z.int().min(4).max(12).default(6),
});

export default definePlugin({
  specificationVersion: "v1",
  name: "cem-plugin-employees",
  version: "1.0.0",
  options,
  setup({ prefix, digits }) {
    const number = new RegExp(`\\b${prefix}\\d{${digits}}\\b`, "g");
    return {
      detectors: [{ type: "EMPLOYEE", pattern: number }],
      guards: [
        {
          specificationVersion: "v1",
          // A number that stands in code was copied there: code should get it from a tool.
          async review({ code }) {
            const findings = code.split("\n").flatMap((line, index) =>
              [...line.matchAll(number)].map((match) => ({
                rule: "employee-in-code",
                severity: /** @type {const} */ ("error"),
                message: "The number of an employee stands in the code.",
                hint: "Look the employee up with a tool.",
                line: index + 1,
                column: match.index + 1,
              })),
            );
            return { allowed: findings.length === 0, findings };
          },
        },
      ],
    };
  },
});
