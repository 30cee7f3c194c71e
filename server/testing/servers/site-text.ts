/** For servers of tests that send a built site as the product does. */
export { replaceBuiltAddress } from '../../site/site.ts';
