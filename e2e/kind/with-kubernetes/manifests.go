package main

import (
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacconversion "k8s.io/kubernetes/pkg/apis/rbac/v1"
	"k8s.io/kubernetes/pkg/apis/rbac/validation"
)

// checkManifests decodes every object strictly, as an API server does with fieldValidation=Strict, and validates the RBAC
// objects as it does before it stores them.
func checkManifests(data []byte) error {
	documents, err := split(data)
	if err != nil {
		return err
	}
	if len(documents) == 0 {
		return errors.New("there is no object")
	}
	decoder := serializer.NewCodecFactory(clientscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for number, document := range documents {
		object, _, err := decoder.Decode(document, nil, nil)
		if err == nil {
			err = validateRbac(object)
		}
		if err != nil {
			return fmt.Errorf("object %d: %w", number+1, err)
		}
	}
	return nil
}

func validateRbac(object runtime.Object) error {
	problems := field.ErrorList{}
	switch found := object.(type) {
	case *rbacv1.ClusterRole:
		role := &rbac.ClusterRole{}
		if err := rbacconversion.Convert_v1_ClusterRole_To_rbac_ClusterRole(found, role, nil); err != nil {
			return err
		}
		problems = validation.ValidateClusterRole(role, validation.ClusterRoleValidationOptions{})
	case *rbacv1.ClusterRoleBinding:
		binding := &rbac.ClusterRoleBinding{}
		if err := rbacconversion.Convert_v1_ClusterRoleBinding_To_rbac_ClusterRoleBinding(found, binding, nil); err != nil {
			return err
		}
		problems = validation.ValidateClusterRoleBinding(binding)
	}
	return problems.ToAggregate()
}
