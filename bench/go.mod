module github.com/uvasync/uvasync/bench

go 1.26.0

require (
	github.com/jackc/puddle/v2 v2.2.3
	github.com/stretchr/testify v1.12.1
	github.com/uvasync/uvasync v0.0.0
	golang.org/x/sync v0.25.0
)

require (
	github.com/mattn/go-pointer v0.0.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/uvasync/uvasync => ../
