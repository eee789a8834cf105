/**
 * From an address to a page on the screen.
 *
 * A page is a module with `title`, `load(page)` and `view(data, page)`: see docs/dashboard.md. The router runs `load`
 * beside the frame's own `load`, shows a skeleton while it waits, and turns a refusal of the API into a designed state.
 */

import { errorState, errorTitle, missingPage, pageSkeleton } from "../ui/states.js";
import { fill, h } from "./dom.js";
import { isAbort } from "./errors.js";
import { routeOf } from "./routes.js";
import * as session from "./session.js";

const NAME = "Technical debt";
const progress = h("div", { class: "progress-line", "aria-hidden": "true" });

let root;
let frames;
let slot;
let current = { path: null, leaving: new AbortController() };

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
  session.onEnd(() => askToSignIn());
  return show();
}

/** Go to another address of the dashboard. */
export function navigate(address, { replace = false } = {}) {
  history.replaceState({ scroll: scrollY }, "");
  history[replace ? "replaceState" : "pushState"]({}, "", address);
  return show();
}

/** Load and show the current page again, in place; with `frame` also what is around it. */
export function reload({ frame = false } = {}) {
  if (frame) current.path = null;
  return show({ scroll: scrollY });
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

async function show({ scroll = 0 } = {}) {
  const found = routeOf(location.pathname);
  if (found && !found.route.open && !session.isSignedIn()) return askToSignIn();
  const isSamePage = current.path === location.pathname && slot?.isConnected;
  const page = visit(found);
  progress.toggleAttribute("data-busy", true);
  try {
    const module = found ? found.route.page() : Promise.resolve(missingPage);
    const data = module.then(({ load }) => load?.(page));
    data.catch(() => {}); // waited for below, after the frame
    if (!isSamePage) await showFrame(page, found);
    await showPage(page, await module, data, { isSamePage, scroll });
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
  current = { path: location.pathname, leaving: new AbortController() };
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

async function showFrame(page, found) {
  const frame = frames[found?.route.frame ?? (session.isSignedIn() ? "app" : "entrance")];
  slot = h("div", { class: "page" });
  try {
    page.frame = (await frame.load(page)) ?? {};
  } catch (error) {
    if (page.signal.aborted) throw error;
    fill(root, await frame.whenRefused(error, page, slot));
    throw error;
  }
  if (page.signal.aborted) throw new DOMException("The page was left", "AbortError");
  fill(slot, pageSkeleton());
  fill(root, frame.view(page.frame, page, slot));
}

async function showPage(page, module, loading, { isSamePage, scroll }) {
  if (isSamePage) page.frame = shownFrame;
  shownFrame = page.frame;
  slot.closest("[aria-busy]")?.setAttribute("aria-busy", "true");
  const data = await loading;
  if (page.signal.aborted) return;
  const focused = isSamePage ? document.activeElement?.id : "";
  fill(slot, module.view(data, page));
  slot.closest("[aria-busy]")?.setAttribute("aria-busy", "false");
  entitle(titleOf(module, data, page), page);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  if (!isSamePage) focusStart();
  scrollTo({ top: scroll, behavior: "instant" });
}

let shownFrame = {};

/** Show a refusal where the page would be. The next try builds the frame too, which may be what was refused. */
function tell(error, page) {
  current.path = null;
  fill(slot?.isConnected ? slot : root, errorState(error, reload));
  slot?.closest("[aria-busy]")?.setAttribute("aria-busy", "false");
  entitle(errorTitle(error), page);
  focusStart();
}

function entitle(title, { frame }) {
  document.title = [title, subjectOf(frame), NAME].filter(Boolean).join(" · ");
}

function focusStart() {
  document.querySelector("[data-page-start]")?.focus({ preventScroll: true });
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
  if (error.status === undefined) console.error(error);
}
