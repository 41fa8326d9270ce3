// Package imports keeps the rules of who may import whom. It has tests only.
package imports
