/** Where the dashboard begins: the theme, the session of an earlier visit, the router. */

import { h } from "./core/dom.js";
import { start } from "./core/router.js";
import { restore } from "./core/session.js";
import { followTheme } from "./core/theme.js";

followTheme();
const root = h("div", { id: "root" });
document.body.replaceChildren(root);
await restore().catch(() => false); // a service that is away is told by the page that follows
start(root);
