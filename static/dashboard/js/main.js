/** Where the dashboard begins: the theme, the session of an earlier visit, the router. */

import { fill, h } from "./core/dom.js";
import { start } from "./core/router.js";
import { routeOf } from "./core/routes.js";
import { onExpiry, restore } from "./core/session.js";
import { followTheme } from "./core/theme.js";
import { signInAgain } from "./shell/again.js";
import { FRAMES } from "./shell/frames.js";
import { errorState } from "./ui/states.js";

followTheme();
onExpiry(signInAgain);
const root = h("div", { id: "root" });
document.body.replaceChildren(root);
// The modules of the page come while the session is renewed; the router asks for them again and tells of failures.
routeOf(location.pathname)?.route.page().catch(() => {});
const problem = await restore().then(() => null, (error) => error);
if (problem) tell(problem);
else start(root, FRAMES);

/** The session may well live on: whoever cannot ask now is not sent to sign in again. */
function tell(error) {
  fill(root, h("main", { class: "entrance" }, h("div", { class: "entrance-card" }, errorState(error, () => location.reload()))));
}
