/**
 * From an address to a page on the screen.
 *
 * A page is a module with `title`, `load(page)` and `view(data, page)`: see docs/dashboard.md. The router runs `load`
 * beside the frame's own `load`, shows a skeleton while it waits, and turns a refusal of the API into a designed state.
 */

import { errorState, errorTitle, missingPage, pageSkeleton } from "../ui/states.js";
import { fill, h } from "./dom.js";
import { isAbort, LostPage, lostPage } from "./errors.js";
import { focusAgain, focusStart } from "./focus.js";
import { routeOf } from "./routes.js";
import * as session from "./session.js";
import { beginVisit } from "./visits.js";

const NAME = "Technical debt";
const progress = h("div", { class: "progress-line", "aria-hidden": "true" });

let root;
let frames;
let slot;
let current = { path: null, leaving: new AbortController() };
/** What frames held when they were shown last, by what they are about: it stands there until the fresh answer is in. */
const framesBefore = new Map();

/**
 * Show the page of the address bar, and from then on every page that somebody goes to.
 * @param {Record<string, object>} known the frames by the names that routes use: see shell/frames.js
 */
export function start(element, known) {
  root = element;
  frames = known;
  document.body.append(progress);
  history.scrollRestoration = "manual";
  addEventListener("popstate", (event) => show({ scroll: event.state?.scroll ?? 0 }));
  document.addEventListener("click", follow);
  session.onEnd(() => {
    framesBefore.clear();
    askToSignIn();
  });
  return show();
}

/** Go to another address of the dashboard. */
export function navigate(address, { replace = false } = {}) {
  history.replaceState({ scroll: scrollY }, "");
  history[replace ? "replaceState" : "pushState"]({}, "", address);
  return show();
}

/** Load and show the current page again, in place, and what is around it where that has changed. */
export function reload() {
  return show({ scroll: scrollY, isAsked: true });
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || !routeOf(link.pathname)) return;
  if (link.hash && link.pathname === location.pathname) return;
  event.preventDefault();
  navigate(link.href);
}

async function show({ scroll = 0, isAsked = false } = {}) {
  const found = routeOf(location.pathname);
  if (found && !found.route.open && !session.isSignedIn()) return askToSignIn();
  const isSamePage = current.path === location.pathname && slot?.isConnected;
  const isTurned = isSamePage && !isAsked && current.search !== location.search;
  if (!isTurned) beginVisit({ isNewPage: current.path !== location.pathname });
  const page = visit(found);
  progress.toggleAttribute("data-busy", true);
  try {
    const module = found ? found.route.page().catch(lostPage) : Promise.resolve(missingPage);
    const frame = frameAround(page, found);
    const framed = isTurned ? Promise.resolve(frame.before()) : frame.now();
    const data = module.then(({ load }) => load?.(page));
    for (const awaited of [framed, data]) awaited.catch(() => {}); // both are waited for below, one after the other
    if (!isSamePage) await showFrame(page, frame, framed);
    await showPage(page, await module, { frame, framed, data, isSamePage, scroll });
  } catch (error) {
    if (page.signal.aborted || isAbort(error)) return;
    report(error);
    tell(error, page);
  } finally {
    if (!page.signal.aborted) progress.removeAttribute("data-busy");
  }
}

/** Leave the page before and describe the one to come. */
function visit(found) {
  current.leaving.abort();
  current = { path: location.pathname, search: location.search, leaving: new AbortController() };
  return {
    params: found?.params ?? {},
    query: new URLSearchParams(location.search),
    tab: found?.route.tab ?? "",
    path: location.pathname,
    frame: {},
    signal: current.leaving.signal,
    reload,
    setQuery,
  };
}

/** Change some parameters of the address, and with them the page. An empty value removes its parameter. */
function setQuery(changes, { replace = false } = {}) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return navigate(location.pathname + (text ? `?${text}` : ""), { replace });
}

/** The frame of a route about what the address names (`shell/frames.js`), with what it held before and holds now. */
function frameAround(page, found) {
  const name = found?.route.frame ?? (session.isSignedIn() ? "app" : "entrance");
  const subject = [name, page.params.organizationId, page.params.repositoryId].join(" ");
  return {
    ...frames[name],
    before: () => framesBefore.get(subject),
    keep: (holds) => framesBefore.set(subject, holds),
    now: async () => (await frames[name].load(page)) ?? {},
  };
}

async function showFrame(page, frame, framed) {
  slot = h("div", { class: "page" });
  page.frame = frame.before() ?? (await held(page, frame, framed));
  fill(slot, pageSkeleton());
  drawFrame(page, frame);
}

/** What the frame holds now. A refusal is drawn around the page, which tells of it. */
async function held(page, frame, framed) {
  try {
    const fresh = await framed;
    if (page.signal.aborted) throw new DOMException("The page was left", "AbortError");
    return fresh;
  } catch (error) {
    if (!page.signal.aborted) fill(root, await frame.whenRefused(error, page, slot));
    throw error;
  }
}

function drawFrame(page, frame) {
  frame.keep(page.frame);
  fill(root, frame.view(page.frame, page, slot));
}

async function showPage(page, module, { frame, framed, data: loading, isSamePage, scroll }) {
  slot.closest("[aria-busy]")?.setAttribute("aria-busy", "true");
  page.frame = await held(page, frame, framed);
  const data = await loading;
  if (page.signal.aborted) return;
  const focused = document.activeElement;
  if (JSON.stringify(page.frame) !== JSON.stringify(frame.before())) drawFrame(page, frame);
  fill(slot, module.view(data, page));
  slot.closest("[aria-busy]")?.setAttribute("aria-busy", "false");
  entitle(titleOf(module, data, page), page);
  if (isSamePage) focusAgain(document.getElementById(focused?.id) ?? focused);
  else focusStart();
  scrollTo({ top: scroll, behavior: "instant" });
}

/** Show a refusal where the page would be. The next try builds the frame too, which may be what was refused. */
function tell(error, page) {
  current.path = null;
  fill(slot?.isConnected ? slot : root, errorState(error, error instanceof LostPage ? () => location.reload() : reload));
  slot?.closest("[aria-busy]")?.setAttribute("aria-busy", "false");
  entitle(errorTitle(error), page);
  focusStart();
}

function entitle(title, { frame }) {
  document.title = [title, subjectOf(frame), NAME].filter(Boolean).join(" · ");
}

function titleOf(module, data, page) {
  return typeof module.title === "function" ? module.title(data, page) : module.title;
}

/** What the frame is about. */
function subjectOf({ repository, organization }) {
  return repository?.fullName ?? organization?.name;
}

function askToSignIn() {
  const found = routeOf(location.pathname);
  if (found?.route.open) return undefined;
  const here = location.pathname + location.search;
  return navigate(here === "/" ? "/login" : `/login?next=${encodeURIComponent(here)}`, { replace: true });
}

function report(error) {
  // A refusal is part of the design; anything else is a mistake of ours that the console should show.
  if (error.sentence === undefined) console.error(error);
}
