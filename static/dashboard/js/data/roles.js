/** What the three roles may do; the API decides, this only spares people buttons that it would refuse. */

const RANK = { member: 0, admin: 1, owner: 2 };

/** Whether a role is at least another one: `isAtLeast("admin", organization.role)`. */
export function isAtLeast(least, role) {
  return (RANK[role] ?? -1) >= RANK[least];
}
