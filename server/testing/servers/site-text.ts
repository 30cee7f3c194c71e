/** For test servers that serve a built site like the product. */
export { replaceBuiltAddress } from '../../ops/site/site.ts';
