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
  options: z.strictObject({ zone: zone.default("UTC") }),
  setup: (options) => ({
    tools: {
      clock: {
        time_in: defineTool({
          description: "Tell the time of day in a time zone.",
          input: z.object({ zone: zone.default(options.zone), moment: z.iso.datetime().optional() }),
          output: z.object({ zone: z.string(), time: z.string() }),
          annotations: { readOnlyHint: true },
          execute: (input) => ({
            zone: input.zone,
            time: timeIn(input.zone, input.moment === undefined ? new Date() : new Date(input.moment)),
          }),
        }),
      },
    },
  }),
});
