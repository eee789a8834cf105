/** Light or dark: what the system says, until somebody chooses. */

const system = matchMedia("(prefers-color-scheme: dark)");

/** Apply the theme now and whenever the system's changes. */
export function followTheme() {
  apply();
  system.addEventListener("change", apply);
}

/** "light", "dark", or "system". */
export function chosenTheme() {
  return localStorage.getItem("theme") ?? "system";
}

/** Choose "light", "dark" or "system", from now on. */
export function chooseTheme(theme) {
  if (theme === "system") localStorage.removeItem("theme");
  else localStorage.setItem("theme", theme);
  apply();
}

function apply() {
  const chosen = chosenTheme();
  const theme = chosen === "system" ? (system.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.theme = theme;
  // Canvases read colours once; they listen to draw themselves again.
  document.dispatchEvent(new CustomEvent("themechange"));
}
