import { operationQuery } from '../../client/queries.ts';

/** The people of the account, newest first. */
export const membersQuery = operationQuery('listMembers');

/** The inventory of a member: everything they made that works without them. */
export const inventoryQuery = (member_id: string) =>
  operationQuery('getMemberInventory', { params: { member_id } });
