module github.com/uvasync/uvasync/examples

go 1.26

replace github.com/uvasync/uvasync => ../

require (
	github.com/stretchr/testify v1.12.1
	github.com/uvasync/uvasync v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/mattn/go-pointer v0.0.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
