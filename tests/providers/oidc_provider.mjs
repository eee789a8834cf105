// An OpenID Connect server that insists on PKCE: node oidc_provider.mjs <package folder> <port> <redirect uri>
import { pathToFileURL } from "node:url";

const [, , folder, port, redirectUri] = process.argv;
const { Provider } = await import(pathToFileURL(`${folder}/lib/index.js`));
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "our-client",
      client_secret: "our-secret",
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: "client_secret_post",
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: ["for tests only"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: true, name: `Person ${id}` }),
  }),
});
provider.listen(Number(port), "127.0.0.1");
