/** Style sheets that the bundler takes with the script that imports them. */
declare module '*.css';
