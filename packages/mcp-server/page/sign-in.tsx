import { setToken } from "./api.ts";
import { textIn } from "./parts.tsx";

/** Asks for the token with which clients of the server authorize. */
export function SignIn({ wasRefused, onToken }: { wasRefused: boolean; onToken: () => void }) {
  return (
    <main class="sign-in">
      <img src="icon.svg" alt="" width="40" height="40" />
      <h1>Code Execution MCP</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setToken(textIn(event.currentTarget, "token").trim());
          onToken();
        }}
      >
        <label for="token">Access token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          required
          aria-describedby="token-help"
          aria-invalid={wasRefused}
        />
        <p id="token-help" class="hint">
          The server's <code>server.auth_token</code>, or a token of its OAuth issuer. It stays in this tab.
        </p>
        {wasRefused && (
          <p class="problem" role="alert">
            The server does not accept this token.
          </p>
        )}
        <button class="primary">Open the console</button>
      </form>
    </main>
  );
}
