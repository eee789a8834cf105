/** Lists that come in pages. */

import * as api from "../core/api.js";

/**
 * The page of a list that the address names. Rows leave a list, so an address may name a page that is past its end by
 * now: that is the last page then.
 */
export async function pageOf({ query, signal }, path, asked = {}) {
  const get = (number) => api.get(path, { query: { ...asked, page: number }, signal });
  const list = await get(query.get("page"));
  return list.data.length === 0 && list.total > 0 ? get(list.totalPages) : list;
}
