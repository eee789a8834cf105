/** The violations of one file. */
export function filePage(page, file) {
  return `/repos/${page.params.repositoryId}/violations?file=${encodeURIComponent(file)}`;
}
