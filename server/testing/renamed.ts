/** For servers of tests that send a built site as the product does. */
export { renamed } from '../api/site.ts';
