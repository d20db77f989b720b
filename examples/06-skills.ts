// Code that worked can be kept as a skill: proposed by a model, promoted by a person, found like a tool.
import { promoteSkill, removeSkill } from "code-execution-mcp/admin";
import { open } from "./open.ts";

const agent = await open();
console.log("Doubled:", await agent.executeTask("Import the double_number skill and use it to double 15"));

// The skill is reviewed, its types are checked and its test is run before it is kept.
const proposal = await agent.proposeSkill({
  name: "triple_number",
  description: "Triple a number.",
  code: `
/** Triples a number. @param x The number. */
export function triple_number(x: number): number {
  return 3 * x;
}`,
  test: `
import { triple_number } from "./skills/triple_number/index.ts";
return triple_number(4) === 12;`,
});
console.log(`${proposal.name} is a ${proposal.status}`);

// A person looks at it: "cem skills show triple_number", then "cem skills promote triple_number", or here:
const skill = await promoteSkill("triple_number", { approvedBy: "you" });
console.log(
  `${skill.name} is ${skill.status}, version ${skill.version}, approved by ${skill.provenance?.approvedBy}`,
);
console.log("Tripled:", await agent.executeTask("Use the triple_number skill on 14"));

await removeSkill("triple_number");
await agent.dispose();
