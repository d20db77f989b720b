// Files in /workspace: by tools, in words, and by the code itself.
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const { value } = await agent.executeTask(
  "Write a test file with content 'Hello World', then read it back and print the content",
);
console.log("Read back:", value);

const report = await agent.executeCode(`
await Deno.mkdir("reports", { recursive: true });
for (const [month, total] of [["january", 120], ["february", 95], ["march", 143]]) {
  await Deno.writeTextFile(\`reports/\${month}.json\`, JSON.stringify({ month, total }));
}
let sum = 0;
const names: string[] = [];
for await (const { name } of Deno.readDir("reports")) {
  names.push(name);
  sum += JSON.parse(await Deno.readTextFile(\`reports/\${name}\`)).total;
}
export default { files: names.toSorted(), sum };
`);
console.log(report.value);

// Outside of /workspace there is nothing to see.
const outside = await agent.executeCode(`export default await Deno.readTextFile("/etc/passwd");`);
console.log(`${outside.status}: ${outside.error?.code}`);
await agent.dispose();
