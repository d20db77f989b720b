// A plan with a loop, and code between calls. A run that was killed goes on where it stood.
import { openWorkflows } from "code-execution-mcp";

const report = {
  name: "warmest-city",
  variables: { cities: { type: "array", items: { type: "string" }, default: ["Oslo", "Paris"] } },
  steps: [
    {
      name: "weather",
      type: "loop",
      config: {
        items: "variables.cities",
        parallel: 2,
        result: "${{ steps.one }}",
        steps: [
          {
            name: "one",
            type: "tool_call",
            idempotent: true,
            config: {
              server: "weather",
              tool: "get_weather",
              arguments: { location: "${{ item }}", month: "July" },
            },
          },
        ],
      },
    },
    {
      name: "warmest",
      type: "code_execution",
      idempotent: true,
      config: {
        inputs: { rows: "${{ steps.weather }}" },
        code: "export default inputs.rows.toSorted((one, other) => other.temperature - one.temperature)[0];",
      },
    },
  ],
  outputs: { city: "${{ steps.warmest.location }}", temperature: "${{ steps.warmest.temperature }}" },
};

const workflows = await openWorkflows();
const { run, status, outputs } = await workflows.run(report, {
  variables: { cities: ["Oslo", "Cairo", "Paris"] },
  onEvent: (event) => {
    if (event.type === "step-completed") console.log(`Done: ${event.step}`);
  },
});
console.log(`${status}: ${JSON.stringify(outputs)}`);
console.log(`Kept: ${(await workflows.list()).some((one) => one.run === run)}`);
await workflows.dispose();
