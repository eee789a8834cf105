/**
 * Every page: its address, its module, and the frame around it.
 *
 * `frame` is "entrance" (no navigation, for people who are not signed in), "app" (sidebar), "repository" (sidebar,
 * repository header and tabs) or "organization" (sidebar, organization header and tabs). `tab` is the entry of the
 * frame's navigation that is current. `open` pages need no sign-in.
 */
export const ROUTES = [
  { path: "/login", page: () => import("../pages/login.js"), frame: "entrance", open: true },
  { path: "/signup", page: () => import("../pages/signup.js"), frame: "entrance", open: true },
  { path: "/forgot-password", page: () => import("../pages/forgot-password.js"), frame: "entrance", open: true },
  { path: "/reset-password", page: () => import("../pages/reset-password.js"), frame: "entrance", open: true },
  { path: "/auth/callback", page: () => import("../pages/oauth-callback.js"), frame: "entrance", open: true },
  { path: "/invitations/:token", page: () => import("../pages/invitation.js"), frame: "entrance" },

  { path: "/", page: () => import("../pages/repositories.js"), frame: "app", tab: "repositories" },
  { path: "/connect", page: () => import("../pages/connect.js"), frame: "app", tab: "repositories" },
  { path: "/packs", page: () => import("../pages/packs.js"), frame: "app", tab: "packs" },
  { path: "/packs/:name", page: () => import("../pages/pack.js"), frame: "app", tab: "packs" },
  { path: "/orgs/new", page: () => import("../pages/new-organization.js"), frame: "app" },

  ...repository("overview", "", () => import("../pages/overview.js")),
  ...repository("violations", "/violations", () => import("../pages/violations.js")),
  ...repository("violations", "/violations/:violationId", () => import("../pages/violation.js")),
  ...repository("hotspots", "/hotspots", () => import("../pages/hotspots.js")),
  ...repository("architecture", "/architecture", () => import("../pages/architecture.js")),
  ...repository("prs", "/prs", () => import("../pages/pull-requests.js")),
  ...repository("prs", "/prs/:number", () => import("../pages/pull-request.js")),
  ...repository("runs", "/runs", () => import("../pages/runs.js")),
  ...repository("policy", "/policy", () => import("../pages/policy.js")),
  ...repository("settings", "/settings", () => import("../pages/repository-settings.js")),

  ...organization("members", "/members", () => import("../pages/members.js")),
  ...organization("plan", "/plan", () => import("../pages/plan.js")),
  ...organization("credits", "/credits", () => import("../pages/credits.js")),
  ...organization("audit", "/audit", () => import("../pages/audit.js")),
  ...organization("settings", "/settings", () => import("../pages/organization-settings.js")),
];

/** The route of a path and what its placeholders stand for, or null. */
export function routeOf(path) {
  const parts = segments(path);
  for (const route of ROUTES) {
    const params = matched(segments(route.path), parts);
    if (params) return { route, params };
  }
  return null;
}

function repository(tab, rest, page) {
  return [{ path: `/repos/:repositoryId${rest}`, page, frame: "repository", tab }];
}

function organization(tab, rest, page) {
  return [{ path: `/orgs/:organizationId${rest}`, page, frame: "organization", tab }];
}

function segments(path) {
  return path.split("/").filter(Boolean);
}

function matched(pattern, parts) {
  if (pattern.length !== parts.length) return null;
  const params = {};
  for (const [index, piece] of pattern.entries()) {
    if (piece.startsWith(":")) params[piece.slice(1)] = decoded(parts[index]);
    else if (piece !== parts[index]) return null;
  }
  return params;
}

/** A part of an address as text; as it stands where it is not UTF-8, so that its page tells that there is no such thing. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
