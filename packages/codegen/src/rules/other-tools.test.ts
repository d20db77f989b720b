import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
const tools = [...sampleTools, ...otherTools];

async function generate(task: string): Promise<string> {
  const result = await generator.generate({ task, tools });
  return result.status === "generated" ? result.code.replaceAll(/\s+/gu, " ") : (result.steps[0]?.hint ?? "");
}

describe("createRulesGenerator", () => {
  describe("generate, with tools of any server", () => {
    it.each([
      ["List the open issues in acme/web", 'list_issues({ owner: "acme", repo: "web", state: "open" })'],
      [
        "Create an issue titled 'Fix login' in the repository acme/web",
        'create_issue({ owner: "acme", repo: "web", title: "Fix login" })',
      ],
      ["Close issue 42 in acme/web", 'close_issue({ owner: "acme", repo: "web", issue_number: 42 })'],
      [
        "Post a message to #general saying 'done and dusted'",
        'post_message({ channel: "#general", text: "done and dusted" })',
      ],
      [
        "Get weather for Oslo and post it to #weather",
        'post_message({ channel: "#weather", text: toText(weather) })',
      ],
      [
        "Create a calendar event 'Team lunch' tomorrow at 12:30",
        'create_event({ title: "Team lunch", start: "2026-11-21T12:30:00" })',
      ],
      [
        "search the shop for 'mystery novels' in category books",
        'search_products({ query: "mystery novels", category: "books" })',
      ],
      [
        "Send an email to bob@example.com with subject 'Hi' and body 'See you at 5'",
        'send_email({ to: "bob@example.com", subject: "Hi", body: "See you at 5" })',
      ],
      ["Get user 7 and send an email to them with subject 'Welcome' and body 'Hello'", "to: user.email"],
      [
        "Get stock prices for AAPL, MSFT and GOOG",
        "Promise.all( symbols.map((symbolValue) => get_stock_price({ symbol: symbolValue })",
      ],
      ["Fetch https://example.com/a?b=1 and print it", 'fetch_page({ url: "https://example.com/a?b=1" })'],
      [
        "Add a task 'Buy milk' due tomorrow with high priority",
        'add_task({ title: "Buy milk", due: "2026-11-21", priority: "high" })',
      ],
      ["Get the current time in Europe/Berlin", 'get_current_time({ timezone: "Europe/Berlin" })'],
      ["What time is it in Tokyo?", 'get_current_time({ timezone: "Asia/Tokyo" })'],
      ["Tell me the time in New York", 'get_current_time({ timezone: "America/New_York" })'],
    ])("%s", async (task, call) => {
      expect((await generate(task)).replaceAll("( ", "(")).toContain(call.replaceAll("( ", "("));
    });

    it.each([
      "Greet Ada",
      "greet the person named Ada",
      "please greet Ada",
      "could you greet Ada for me?",
      "Greet Ada now",
      "Hi! Can you greet Ada please? Thanks!",
      "Call greet with name Ada",
      'Use the greeter to greet "Ada"',
    ])("hears no more in words that change nothing: %s", async (task) => {
      expect(await generate(task)).toContain('await greet({ name: "Ada" })');
    });

    it.each([
      "Greet Ada twice",
      "Greet Ada tomorrow",
      "Greet the umbrella named Ada",
      "Greet Ada politely",
      "Greet nobody but Ada",
      "Greet ada",
      "Don't greet Ada",
      "translate hello world into German",
      "Search products for laptops in electronics, at most 5 results",
      "Turn on the light in the kitchen",
      "What time is it in Springfield?",
      "What time was it in Tokyo?",
      "What was the weather in Oslo?",
      "What will the weather be in Oslo?",
    ])("takes no word that is left over for a value: %s", async (task) => {
      expect(await generate(task)).toMatch(/was not understood|lacks|Say what to do/u);
    });
  });
});
