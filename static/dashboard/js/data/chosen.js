/** The organization that the sidebar is about where the address names none: the one somebody went to last. */

const KEY = "organization";

/** That organization among those of the person, or undefined when they have none. */
export function chosenOrganization(all) {
  return all.find((one) => one.id === localStorage.getItem(KEY)) ?? all[0];
}

/** Its id as it was remembered; null before the first choice. */
export function chosenOrganizationId() {
  return localStorage.getItem(KEY);
}

/** Remember it for the next page and the next visit. */
export function chooseOrganization(id) {
  localStorage.setItem(KEY, id);
}
