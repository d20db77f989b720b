/** What stands for a value that was kept from a model or a log. */
const TOKEN = /\[\[[A-Z_]+:[\w-]+\]\]/u;

/** Whether a text holds a token, which means nothing once its session has ended. */
export function holdsToken(text: string): boolean {
  return TOKEN.test(text);
}
