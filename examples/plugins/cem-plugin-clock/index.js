import { definePlugin, defineTool } from "code-execution-mcp";
import * as z from "zod";

const zone = z.string().refine(
  (name) => {
    try {
      return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
    } catch {
      return false;
    }
  },
  { error: "is no time zone, such as Asia/Tokyo" },
);

/** The time of day in a zone: `14:05`. */
function timeIn(timeZone, moment) {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  return format.format(moment);
}

export default definePlugin({
  specificationVersion: "v1",
  name: "cem-plugin-clock",
  version: "1.0.0",
  options: z.strictObject({ zones: z.array(zone).default(["UTC"]) }),
  setup: ({ zones }) => ({
    tools: {
      clock: {
        time_in: defineTool({
          description: "Tell the time of day in a time zone.",
          input: z.object({ zone, moment: z.iso.datetime().optional() }),
          output: z.object({ zone: z.string(), time: z.string() }),
          annotations: { readOnlyHint: true },
          execute: (input) => ({
            zone: input.zone,
            time: timeIn(input.zone, input.moment === undefined ? new Date() : new Date(input.moment)),
          }),
        }),
      },
    },
    commands: {
      clock: {
        description: "Show the time of day in time zones.",
        usage: "[zone...]",
        run(words) {
          const asked = words.length === 0 ? zones : words.map((word) => zone.parse(word));
          return asked.map((name) => ({ zone: name, time: timeIn(name, new Date()) }));
        },
      },
    },
  }),
});
