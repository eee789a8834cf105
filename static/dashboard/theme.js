// Runs before the first paint, so that a chosen theme does not flash the other one. js/core/theme.js writes the choice.
{
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
