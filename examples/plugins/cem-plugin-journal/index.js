import { appendFile, readFile } from "node:fs/promises";
import { definePlugin } from "code-execution-mcp/define-plugin";
import * as z from "zod";

export default definePlugin({
  specificationVersion: "v1",
  name: "cem-plugin-journal",
  version: "1.0.0",
  options: z.strictObject({
    /** Where the journal is. */
    file: z.string().min(1),
  }),
  setup({ file }) {
    /** Lines are written one after the other. */
    let writing = Promise.resolve();
    const write = (line) => {
      const written = writing.then(() => appendFile(file, `${JSON.stringify(line)}\n`));
      writing = written.catch(() => {});
      return written;
    };
    return {
      /** One line for each run, with tokens in place of personal values. */
      onEvent(event) {
        if (event.type !== "finished") return undefined;
        const { status, timings, toolCalls } = event.result;
        return write({ status, ms: timings.total, calls: toolCalls.length });
      },
      steps: [
        {
          specificationVersion: "v1",
          name: "journal",
          configSchema: {
            type: "object",
            properties: { text: { type: "string" } },
            required: ["text"],
            additionalProperties: false,
          },
          isIdempotent: true,
          // A step that is repeated finds its line and writes no second one.
          async run({ text }, { step, idempotencyKey }) {
            const before = await readFile(file, "utf8").catch(() => "");
            const isWritten = before.includes(JSON.stringify(idempotencyKey));
            if (!isWritten) await write({ step, text, key: idempotencyKey });
            return { written: !isWritten };
          },
        },
      ],
      dispose: () => writing,
    };
  },
});
