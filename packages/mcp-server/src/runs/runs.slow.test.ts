import { expect, it, onTestFinished } from "vitest";
import { answersOf } from "../../fixtures/many-calls.ts";
import { createRealAgent } from "../../fixtures/real-agent.ts";

it("many calls at once, in a real sandbox, are all answered, 24 of them from 8 clients", async () => {
  const { agent, close } = createRealAgent();
  onTestFinished(close);
  expect(await answersOf(agent, 24)).toEqual(Array.from({ length: 24 }, (_, index) => index));
});
