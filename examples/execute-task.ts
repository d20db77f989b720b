// One task, one result. Run it from the root: npm run example examples/execute-task.ts
import { executeTask } from "code-execution-mcp";

const { value, error } = await executeTask("Calculate 5 + 3 and get weather for San Francisco");
if (error !== null) throw new Error(error.message);
console.log(JSON.stringify(value, null, 2));
