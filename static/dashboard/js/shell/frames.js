/**
 * The frames that routes name. A frame has `load(page)`, whose answer becomes `page.frame`; `view(data, page, content)`;
 * and `whenRefused(error, page, content)`, the frame to show when its own `load` was refused.
 */

import { app } from "./app.js";
import { entrance } from "./entrance.js";
import { organization } from "./organization.js";
import { repository } from "./repository.js";

export const FRAMES = { app, entrance, organization, repository };
