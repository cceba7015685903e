package redact_test

import (
	"fmt"

	"github.com/prism-rpc/prism-rpc/redact"
)

func ExampleRedactor_Text() {
	r, err := redact.New(
		redact.Value{Name: "DB_PASSWORD", Secret: redact.NewSecret("correct/horse")},
		redact.Value{Name: "pin", Secret: redact.NewSecret("4711"), Short: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	var removed redact.Tally
	fmt.Println(r.Text("psql://me:correct%2Fhorse@db, PIN 4711, order 471100", &removed))
	for _, c := range removed.Counts() {
		fmt.Println(c.Name, c.Count)
	}
	// Output:
	// psql://me:[REDACTED:DB_PASSWORD]@db, PIN [REDACTED:pin], order 471100
	// DB_PASSWORD 1
	// pin 1
}

func ExampleRedactor_WithRules() {
	r, err := redact.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "password=hunter2, postgres://me:t0psecret@db"
	fmt.Println(r.Text(text, nil))
	fmt.Println(r.WithRules(redact.StrictRules).Text(text, nil))
	fmt.Println(r.WithRules(redact.NoRules).Text(text, nil))
	// Output:
	// password=hunter2, postgres://me:[REDACTED:url-password]@db
	// password=[REDACTED:assignment], postgres://me:[REDACTED:url-password]@db
	// password=hunter2, postgres://me:t0psecret@db
}

func ExampleRedactor_JSON() {
	r, err := redact.New(redact.Value{Secret: redact.NewSecret(`say "please"`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", r.JSON([]byte(`{"n": 1.0, "magic": "say \"please\"!"}`), nil))
	// Output: {"n": 1.0, "magic": "[REDACTED]!"}
}

func ExampleRedactor_Stream() {
	r, err := redact.New(redact.Value{Name: "key", Secret: redact.NewSecret("sk-12345678")})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := r.Stream()
	for _, delta := range []string{"Your key is sk-1", "234", "5678, keep", " it."} {
		fmt.Printf("%q\n", s.Write(delta))
	}
	fmt.Printf("%q\n", s.Flush())
	// Output:
	// "Your key is "
	// ""
	// "[REDACTED:key], keep"
	// " it."
	// ""
}

func ExampleSecret() {
	config := struct {
		URL string
		Key redact.Secret
	}{"https://api.example", redact.NewSecret("sk-12345678")}
	fmt.Printf("%+v\n", config)
	// Output: {URL:https://api.example Key:[redacted]}
}
